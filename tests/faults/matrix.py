"""The matrix in print."""

from collections.abc import Iterable

from .cell import Outcome
from .kinds import KINDS, WHENS

COLUMNS = ("injected", "self-restored", "needed restore", "dirty", "lost trials", "wrong ok", "other")


def table(outcomes: Iterable[Outcome]) -> str:
    """A row for each kind of fault, before and after the effect of a command; a column for what became of it."""
    rows: dict[tuple[str, str], list[int]] = {(kind, when): [0] * len(COLUMNS) for kind in KINDS for when in WHENS}
    for outcome in outcomes:
        fault = outcome.cell.fault
        counts = (
            outcome.command != "", outcome.hosts == "self", outcome.hosts == "restore", outcome.hosts == "dirty",
            bool(outcome.lost), bool(outcome.wrong), bool(outcome.other),
        )  # fmt: skip
        row = rows[fault.kind, fault.when]
        row[:] = [sum(pair) for pair in zip(row, counts, strict=True)]
    totals = [sum(column) for column in zip(*rows.values(), strict=True)]
    lines = [_line("fault", COLUMNS)]
    lines += [_line(f"{kind} {when}", row) for (kind, when), row in rows.items() if any(row)]
    return "\n".join([*lines, _line("all", totals)])


def _line(name: str, values: Iterable[object]) -> str:
    cells = zip(values, COLUMNS, strict=True)
    return f"{name:30}" + "".join(f"{value!s:>{len(column) + 2}}" for value, column in cells)


def complaint(outcome: Outcome, again: str) -> str:
    """What is wrong with a cell, and how to repeat it; ``again`` are the words that have the same labs."""
    lines = [f"{outcome.cell.name}: {outcome.command[:200] or 'not injected'}"]
    for what in ("dirt", "lost", "wrong", "other"):
        lines += [f"    {what}: {line}" for line in getattr(outcome, what)]
    return "\n".join([*lines, f"    again: make faults FAULTS='{again} --only {outcome.cell.name}'"])
