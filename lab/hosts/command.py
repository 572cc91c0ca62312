"""A command for a host as plain data, which another program may run later; scripts for /bin/sh and Perl."""

import itertools
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lab.hosts import Host, Result


@dataclass(frozen=True)
class Command:
    """A command for a host. ``given`` is its standard input, for secrets, and is never journalled.

    ``unlisted`` are lines of input before it: no secrets, but kept out of the list of processes.
    """

    argv: tuple[str, ...]
    root: bool = False
    given: str = field(default="", repr=False)
    deadline_s: float = 30.0
    unlisted: tuple[str, ...] = ()

    @property
    def stdin(self) -> str:
        return "".join(f"{line}\n" for line in self.unlisted) + self.given

    def run(self, host: Host, check: bool = True) -> str:
        """Run it and return what it printed, stripped. Raises as :meth:`Host.run` does."""
        return self.attempt(host, check).stdout.strip()

    def attempt(self, host: Host, check: bool = False) -> Result:
        """Run it and return all that it printed, and how it ended. Raises as :meth:`Host.run` does."""
        return host.run(*self.argv, root=self.root, given=self.stdin, deadline_s=self.deadline_s, check=check)

    def by_hand(self) -> str:
        lines = f"printf '%s\\n' {shlex.join(self.unlisted)} | " if self.unlisted else ""
        return lines + ("sudo " if self.root else "") + shlex.join(self.argv)


def command(*argv: str, root: bool = False, given: str = "", deadline_s: float = 30.0) -> Command:
    """A command of these words."""
    return Command(argv, root, given, deadline_s)


def script(
    text: str, *args: str, root: bool = False, given: str = "", deadline_s: float = 30.0, unlisted: Sequence[str] = ()
) -> Command:
    """A script for ``/bin/sh``; ``args`` are its ``$1``, ``$2``, … For the rest see :class:`Command`."""
    return Command(("/bin/sh", "-c", text, "sh", *args), root, given, deadline_s, tuple(unlisted))


def shell_line(text: str, *args: str) -> str:
    """A script as a line for a shell, such as a test of readiness that another script runs."""
    return shlex.join(["sh", "-c", text, "sh", *args])


def lenient(step: Command) -> Command:
    """The same command, with failures ignored."""
    return replace(step, argv=("/bin/sh", "-c", '"$@" || :', "sh", *step.argv))


def together(steps: Sequence[Command]) -> list[Command]:
    """Merge consecutive commands with the same rights and no input; the first failure ends, the last one prints."""
    joined: list[Command] = []
    for (root, stdin), group in itertools.groupby(steps, key=lambda step: (step.root, step.stdin)):
        alike = list(group)
        if stdin or len(alike) == 1:
            joined += alike
            continue
        text = " >&2 && ".join(shlex.join(step.argv) for step in alike)
        joined.append(script(text, root=root, deadline_s=sum(step.deadline_s for step in alike)))
    return joined


NO_PERL = re.compile(r"\bperl: (command )?not found|\benv: '?perl'?: No such file")
NO_PERL_ON_MAC = (
    "the lab needs /usr/bin/perl there, which comes with macOS up to 26: reinstall macOS, or measure from another Mac"
)


def run_perl(text: str, *args: str) -> tuple[str, ...]:
    """The command line that runs a Perl script."""
    return ("perl", "-e", text, "--", *args)


def shell_function(name: str, text: str) -> str:
    """A shell function that runs a Perl script with its own arguments."""
    return f'{name}() {{ perl -e {shlex.quote(text)} -- "$@"; }}\n'
