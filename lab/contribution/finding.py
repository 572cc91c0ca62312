"""A finding: something in a contribution that does not add up."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from lab.base.untrusted import one_line

MOST_FINDINGS = 200  # more of them tell nothing new about one contribution
LONGEST = 300


@dataclass(frozen=True)
class Finding:
    """What does not add up, in which file, and in which line of it, counted from 1."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        return ": ".join(filter(None, [self.file, f"line {self.line}" if self.line else "", self.what]))

    def to_json(self) -> dict[str, object]:
        """As JSON values."""
        return asdict(self)


def limit(findings: Iterable[Finding]) -> list[Finding]:
    """The first MOST_FINDINGS, printable and each on one line; then one finding that says that there are more."""
    kept: list[Finding] = []
    for finding in findings:
        if len(kept) == MOST_FINDINGS:
            return [*kept, Finding("", None, f"more than {MOST_FINDINGS} findings: the others are left out")]
        kept.append(Finding(one_line(finding.file, LONGEST), finding.line, one_line(finding.what, LONGEST)))
    return kept
