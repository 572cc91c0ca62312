"""What limited each case, as a report shows it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd

from lab import stats
from lab.design.factors import ABSENT, OPTIONS
from lab.report.tables import TextTable, levels, number, varied_and_alike
from lab.stats import bottleneck


def limited(found: pd.DataFrame) -> TextTable:
    """One line a case: what it was limited by, what is left of that, and why (:mod:`lab.stats.bottleneck`)."""
    cases = pd.DataFrame([_knobs(row) for row in found.to_dict("records")]).fillna(ABSENT)
    varied, alike = varied_and_alike(cases)
    rows = [
        [
            ", ".join([stats.row_label(row), *levels(case, varied)]), row["limited_by"],
            number(100 * row["headroom"], ".0f", " %"), str(row["n"]), row["evidence"],
        ]
        for row, case in zip(found.to_dict("records"), cases.to_dict("records"), strict=True)
    ]  # fmt: skip
    caption = (
        "What limited each case. Headroom: what is left of it (of the link, for round trips). n: trials it rests on. "
        f"{alike}"
    )
    return TextTable(["", "limited by", "headroom", "n", "evidence"], rows, caption, is_text=True)


def counted(found: pd.DataFrame) -> str:
    """How many cases each limit was found in, and what would help, in sentences."""
    counts = Counter(found["limited_by"])
    said = [f"{limit} {count}" for limit, count in counts.most_common()]
    helps = [f"Where it is {limit}, {bottleneck.REMEDY[limit]}." for limit in counts if limit in bottleneck.REMEDY]
    return f"Of {len(found)} cases: {', '.join(said)}. {' '.join(helps)}" if said else ""


def _knobs(row: dict[Any, Any]) -> dict[Any, Any]:
    """A case as one row of a summary has it."""
    options: dict[Any, Any] = row["options"]
    return {name: row[name] for name in bottleneck.CASE if name != "options"} | OPTIONS | options
