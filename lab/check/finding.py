"""One line of the check, and making one of whatever goes wrong on the way to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from lab.base.errors import CommandError, HostError, LabError, LabFailure, abridged

Level: TypeAlias = Literal["problem", "warning", "note", "ok"]
LEVELS = get_args(Level)
LONGEST = 1000  # characters of a text: a host may say anything, and of any length


@dataclass(frozen=True)
class Finding:
    """What was looked at, what it is like, and what to do about it.

    A ``problem`` keeps a run from starting or makes its figures wrong, a ``warning`` makes them worse or leaves
    something out, a ``note`` is good to know. Every text is one line that is safe to print, wherever it came from.
    """

    level: Level
    subject: str
    message: str
    remedy: str = ""

    def __post_init__(self) -> None:
        for name in ("subject", "message", "remedy"):
            object.__setattr__(self, name, one_line(getattr(self, name)))


def one_line(text: str) -> str:
    """``text`` without line breaks, control characters and whatever else a terminal might obey."""
    line = " / ".join(part.strip() for part in text.splitlines() if part.strip())
    line = line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
    return "".join(character if character.isprintable() else "?" for character in line)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """By level; in the given order within one."""
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))


def of_error(level: Level, subject: str, error: Exception) -> Finding:
    """An error as a finding. Our errors say in the first line or sentence what is wrong, and then what to do."""
    text = re.sub(r"^(client|server): ", "", str(error))
    if isinstance(error, CommandError):  # whose lines are the command's
        shown = "a script of the lab's" if error.argv[:2] == ("/bin/sh", "-c") else abridged(error.argv)
        said = (error.output.strip().splitlines() or ["it said nothing"])[-1]
        return Finding(level, subject, f"{shown}: {error.how_it_ended()}: {said}", error.remedy)
    if not isinstance(error, LabError):
        return Finding(level, subject, f"what a command printed cannot be read: {error}")
    message, remedy = (*re.split(r"\n|(?<=\S)\. (?=[A-Z])", text, maxsplit=1), "")[:2]
    return Finding(level, subject, message, remedy)


def is_lost(error: Exception) -> bool:
    """Whether a connection is gone, and not only a command has failed."""
    return isinstance(error, HostError) and not isinstance(error, CommandError)


def looked(subject: str, look: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """What a look finds. One that fails is a finding too, and keeps no other from being taken.

    Raises HostError where the connection is gone, for then no other look will see anything.
    """
    try:
        yield from look()
    except (LabFailure, ValueError, LookupError) as error:
        if is_lost(error):
            raise
        found = of_error("warning", subject, error)
        yield replace(found, message=f"could not be looked at: {found.message}")
