"""A finding, which is one line of the check; and how an error becomes a finding."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from lab.base.errors import CommandError, HostError, LabError, LabFailure, RestoreError
from lab.base.untrusted import listing, one_line

Level: TypeAlias = Literal["problem", "warning", "note", "ok"]
LEVELS = get_args(Level)
MOST_NAMED = 5  # subjects in the verdict
LONGEST = 1000  # characters of a text: a host may print anything, of any length


@dataclass(frozen=True)
class Finding:
    """What was checked (``subject``), the result, and what to do about it.

    A ``problem`` prevents a run or makes its figures wrong. A ``warning`` makes figures worse or leaves something out.
    A ``note`` is good to know. Every text is made one printable line.
    """

    level: Level
    subject: str
    message: str
    remedy: str = ""

    def __post_init__(self) -> None:
        for name in ("subject", "message", "remedy"):
            object.__setattr__(self, name, one_line(getattr(self, name), LONGEST))


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Sorted by level, in the given order within a level."""
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))


def verdict(findings: Sequence[Finding]) -> str:
    """Whether a run can begin, in one line: yes, yes but, or no; with the subjects of the worst findings."""
    for level, answer in (("problem", "not ready:"), ("warning", "ready, but")):
        if subjects := [finding.subject for finding in findings if finding.level == level]:
            count = f"{len(subjects)} {level}{'s' if len(subjects) > 1 else ''}"
            return f"{answer} {count}: {listing(dict.fromkeys(subjects), MOST_NAMED)} (see above)"
    return "ready: nothing is in the way"


def of_error(level: Level, subject: str, error: Exception) -> Finding:
    """An error as a finding. The subject names the host, so the message does not."""
    if isinstance(error, CommandError):  # the message has every line of the command
        return Finding(level, subject, error.cause(), error.remedy)
    if isinstance(error, RestoreError):
        return Finding(level, subject, error.cause(), "\n".join([error.remedy, *error.details()]))
    if isinstance(error, LabError):
        return Finding(level, subject, error.message, error.remedy)
    return Finding(level, subject, f"what a command printed cannot be read: {error}")


def is_lost(error: Exception) -> bool:
    """Whether the connection is gone, unlike after a failed command."""
    return isinstance(error, HostError) and not isinstance(error, CommandError)


def examine(subject: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of a check. A check that fails becomes a finding, so that the next checks run.

    Raises HostError if the connection is gone, because no other check could reach the host.
    """
    try:
        yield from check()
    except (LabFailure, ValueError, LookupError) as error:
        if is_lost(error):
            raise
        finding = of_error("warning", subject, error)
        yield replace(finding, message=f"could not be looked at: {finding.message}")
