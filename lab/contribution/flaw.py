"""A flaw: something in a contribution that does not add up."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from lab.base.untrusted import one_line

MOST_FLAWS = 200  # more of them tell nothing new about one contribution
LONGEST = 300


@dataclass(frozen=True)
class Flaw:
    """What does not add up, in which file, and in which line of it, counted from 1."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        return ": ".join(filter(None, [self.file, f"line {self.line}" if self.line else "", self.what]))

    def to_json(self) -> dict[str, object]:
        """As JSON values."""
        return asdict(self)


def limit(flaws: Iterable[Flaw]) -> list[Flaw]:
    """The first MOST_FLAWS, printable and each on one line; then one flaw that says that there are more."""
    kept: list[Flaw] = []
    for flaw in flaws:
        if len(kept) == MOST_FLAWS:
            return [*kept, Flaw("", None, f"more than {MOST_FLAWS} flaws: the others are left out")]
        kept.append(Flaw(one_line(flaw.file, LONGEST), flaw.line, one_line(flaw.what, LONGEST)))
    return kept
