"""A running command on a host that exchanges lines with the controller."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from lab.base.errors import DeadlineExceeded, HostError
from lab.base.os_errors import reason_of
from lab.hosts.connection import Conversation
from lab.hosts.host import STOPPED, Result


@dataclass
class Dialogue:
    """A running command. ``lost`` makes the error about a broken connection; ``began`` is on the monotonic clock."""

    name: str
    argv: tuple[str, ...]
    conversation: Conversation
    began: float
    deadline_s: float
    lost: Callable[[str], HostError]
    exit_code: int | None = None  # after it has ended by itself
    _heard: int = 0  # lines returned so far

    @property
    def deadline(self) -> float:
        """When the command is ended."""
        return self.began + self.deadline_s

    def ask(self, line: str) -> None:
        """Send a line. Raises HostError if the connection broke."""
        try:
            self.conversation.say(line)
        except ConnectionError as error:
            raise self.lost(reason_of(error)) from error

    def next_line(self) -> str:
        """The next line of output; empty at its end. Raises DeadlineExceeded if none comes in time."""
        wanted = self._heard + 1
        if not self._wait_until(lambda text: text.count("\n") >= wanted):
            return ""
        self._heard = wanted
        return self.conversation.stdout.split("\n")[wanted - 1]

    def hear(self, is_last: Callable[[str], bool]) -> str:
        """All output so far, once ``is_last`` accepts it or it has ended. Raises DeadlineExceeded."""
        self._wait_until(is_last)
        self._heard = self.conversation.stdout.count("\n")
        return self.conversation.stdout

    def _wait_until(self, is_said: Callable[[str], bool]) -> bool:
        has_come = self.conversation.wait_until(is_said, self.deadline)
        if not has_come and time.monotonic() >= self.deadline:
            raise self._late()
        return has_come

    def _late(self) -> DeadlineExceeded:
        return DeadlineExceeded(self.name, self.argv, self.deadline_s, self.conversation.errors)

    def finish(self) -> Result:
        """End its standard input and wait for its end. Raises as :meth:`lab.hosts.Host.run` without ``check``."""
        self.conversation.end_input()
        if not self.conversation.wait(self.deadline):
            raise self._late()
        self.exit_code = self.conversation.exit_code
        if self.exit_code is None:
            raise self.lost("")
        return self._result(self.exit_code)

    def stopped(self) -> Result:
        """The output so far of a command that is ended early."""
        return self._result(STOPPED)

    def _result(self, code: int) -> Result:
        elapsed_s = time.monotonic() - self.began
        return Result(self.argv, code, self.conversation.stdout, self.conversation.errors, elapsed_s)
