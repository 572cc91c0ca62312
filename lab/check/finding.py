"""A finding: one line of what the check prints; and how an error becomes one."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from lab.base.errors import CommandError, HostError, LabError, LabFailure, RestoreError
from lab.base.untrusted import one_line

Level: TypeAlias = Literal["problem", "warning", "note", "ok"]
LEVELS = get_args(Level)
LONGEST = 1000  # characters of a text: a host may print anything, of any length


@dataclass(frozen=True)
class Finding:
    """What was checked (``subject``), what it is like, and what to do about it.

    A ``problem`` keeps a run from starting or makes its figures wrong. A ``warning`` makes figures worse or leaves
    something out. A ``note`` is good to know. Every text is one line that is safe to print, wherever it came from.
    """

    level: Level
    subject: str
    message: str
    remedy: str = ""

    def __post_init__(self) -> None:
        for name in ("subject", "message", "remedy"):
            object.__setattr__(self, name, one_line(getattr(self, name), LONGEST))


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """By level; in the given order within one."""
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))


def of_error(level: Level, subject: str, error: Exception) -> Finding:
    """An error as a finding. The subject names the host, so the message does not."""
    if isinstance(error, CommandError):  # its message has every line that the command printed
        return Finding(level, subject, error.cause(), error.remedy)
    if isinstance(error, RestoreError):
        return Finding(level, subject, error.message, "\n".join([error.remedy, *error.problems]))
    if isinstance(error, LabError):
        return Finding(level, subject, error.message, error.remedy)
    return Finding(level, subject, f"what a command printed cannot be read: {error}")


def is_lost(error: Exception) -> bool:
    """Whether a connection is gone, and not only a command has failed."""
    return isinstance(error, HostError) and not isinstance(error, CommandError)


def examine(subject: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of one check. A check that fails becomes a finding itself, so that the checks after it still run.

    Raises HostError where the connection is gone: no other check could reach the host either.
    """
    try:
        yield from check()
    except (LabFailure, ValueError, LookupError) as error:
        if is_lost(error):
            raise
        finding = of_error("warning", subject, error)
        yield replace(finding, message=f"could not be looked at: {finding.message}")
