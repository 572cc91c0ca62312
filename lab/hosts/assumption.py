"""What the lab takes for granted about a system, how a host can be asked about it, and what is worth a capture."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum

Version = tuple[int, int]


class Risk(IntEnum):
    """What is lost where an assumption is false, the worst first."""

    LEFT_BEHIND = 1
    WRONG_FIGURES = 2
    NO_RUN = 3
    NO_PROTOCOL = 4
    TOLD = 5

    @property
    def words(self) -> str:
        """The same in words."""
        return {
            Risk.LEFT_BEHIND: "something stays changed on the host",
            Risk.WRONG_FIGURES: "figures are wrong, and nothing says so",
            Risk.NO_RUN: "nothing is measured",
            Risk.NO_PROTOCOL: "a protocol is not measured",
            Risk.TOLD: "a trial fails or less is known, and the lab says so",
        }[self]


@dataclass(frozen=True)
class Question:
    """What a host of some versions of a system is asked: ``since`` one version and ``before`` another.

    ``name`` is how files refer to it, and stays when its texts change. ``ask`` is a script for ``/bin/sh`` that changes
    nothing: ``$1`` is the data interface, ``$2`` the other host's address, ``$3`` the account that logs in.
    """

    name: str
    ask: str
    root: bool = False
    since: Version = (0, 0)
    before: Version = (1000, 0)

    def holds_for(self, version: Version) -> bool:
        """Whether it is about systems of this version."""
        return self.since <= version < self.before


@dataclass(frozen=True, kw_only=True)
class Assumption(Question):
    """Something that the lab rests on, from a file (:mod:`lab.hosts.assumption_file`).

    ``expected`` is a regular expression that is found in what ``ask`` prints, standard error included, where ``what``
    is true. Without an ``ask`` only a run or a person shows it, and ``expected`` says how. ``source`` is why it is
    assumed; of what is ``unverified`` no source is a proof: only hardware is. ``breaks`` is what goes wrong where it is
    false, and ``risk`` how bad that is.
    """

    what: str
    expected: str
    source: str
    risk: Risk
    breaks: str
    ask: str = ""
    unverified: bool = False


@dataclass(frozen=True, kw_only=True)
class Capture(Question):
    """Output that a parser reads, worth keeping for the tests; ``parse`` raises where it cannot."""

    parse: Callable[[str], object]


def rank(assumptions: Iterable[Assumption]) -> list[Assumption]:
    """In the order to look at them: the unverified first, then by risk, then as given."""
    return sorted(assumptions, key=lambda row: (not row.unverified, row.risk))
