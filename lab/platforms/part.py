"""The base of a platform's parts: a host, and parsing what its commands print."""

from collections.abc import Callable
from typing import TypeVar

from lab.base.errors import LabFailure, abridge
from lab.base.untrusted import first_line
from lab.hosts import Host, Result

T = TypeVar("T")


class Part:
    """One part of a platform, for one host."""

    def __init__(self, host: Host):
        self.host = host

    def read(self, parser: Callable[[str], T], *argv: str) -> T:
        """Run a command and parse its standard output. Raises LabFailure; see :meth:`parse`."""
        return self.parse(parser, self.host.run(*argv))

    def parse(self, parser: Callable[[str], T], result: Result) -> T:
        """Parse the output of a command. Raises LabFailure that shows it if the parser raises ValueError."""
        try:
            return parser(result.stdout)
        except ValueError as error:
            lines = "\n".join(f"    {first_line(line)}" for line in result.output[:5000].splitlines()[:6])
            message = f"{abridge(result.argv)}: {error}; it printed:\n{lines}"
            failure = LabFailure(message, host=self.host.name)
            failure.log = self.host.log.write_output(result.output)
            raise failure from error
