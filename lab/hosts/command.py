"""A command for a host as plain data: it can be written down now and be run by another program later."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lab.hosts import Host


@dataclass(frozen=True)
class Command:
    """A command for a host. ``given`` is its standard input: the place for secrets, and never journalled.

    ``unlisted`` are lines before that, for words that are no secret, but are to stand in no list of processes.
    """

    argv: tuple[str, ...]
    root: bool = False
    given: str = field(default="", repr=False)
    deadline_s: float = 30.0
    unlisted: tuple[str, ...] = ()

    @property
    def stdin(self) -> str:
        """All of its standard input."""
        return "".join(f"{line}\n" for line in self.unlisted) + self.given

    def run(self, host: Host, check: bool = True) -> str:
        """Run it and return what it printed, stripped. Raises as :meth:`Host.run` does."""
        result = host.run(*self.argv, root=self.root, given=self.stdin, deadline_s=self.deadline_s, check=check)
        return result.stdout.strip()

    def by_hand(self) -> str:
        """How a person types it."""
        lines = f"printf '%s\\n' {shlex.join(self.unlisted)} | " if self.unlisted else ""
        return lines + ("sudo " if self.root else "") + shlex.join(self.argv)


def command(*argv: str, root: bool = False, given: str = "", deadline_s: float = 30.0) -> Command:
    """A command of these words."""
    return Command(argv, root, given, deadline_s)


def script(
    text: str,
    *args: str,
    root: bool = False,
    given: str = "",
    deadline_s: float = 30.0,
    unlisted: Sequence[str] = (),
) -> Command:
    """A script for ``/bin/sh``; ``args`` are its ``$1``, ``$2``, … For the rest see :class:`Command`."""
    return Command(("/bin/sh", "-c", text, "sh", *args), root, given, deadline_s, tuple(unlisted))


def shell_line(text: str, *args: str) -> str:
    """A line for a shell that runs a script: what a script takes that calls another, as the test of its readiness."""
    return shlex.join(["sh", "-c", text, "sh", *args])


def lenient(step: Command) -> Command:
    """The same command, whose failure does not count."""
    words = ("/bin/sh", "-c", '"$@" || :', "sh", *step.argv)
    return replace(step, argv=words)


def together(steps: Sequence[Command]) -> list[Command]:
    """The same commands as fewer: those that follow one another with the same rights become one, up to a failure.

    Of what they print, that of the last remains. One with standard input stays by itself.
    """
    joined: list[Command] = []
    for (root, stdin), group in itertools.groupby(steps, key=lambda step: (step.root, step.stdin)):
        alike = list(group)
        if stdin or len(alike) == 1:
            joined += alike
            continue
        text = shlex.join(alike[0].argv)
        for step in alike[1:]:
            text += " >&2 && " + shlex.join(step.argv)
        joined.append(script(text, root=root, deadline_s=sum(step.deadline_s for step in alike)))
    return joined
