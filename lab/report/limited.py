"""What limited each case, as a report shows it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd

from lab import stats, verdicts
from lab.report.tables import TextTable, number, setting
from lab.values import OPTIONS


def limited(found: pd.DataFrame) -> TextTable:
    """One line a case of :func:`lab.verdicts.verdicts`: what it was limited by, what is left of that, and why."""
    rows = [
        [_case(row), row["limited_by"], number(100 * row["headroom"], ".0f", " %"), str(row["n"]), row["evidence"]]
        for row in found.to_dict("records")
    ]
    caption = (
        "What limited each case. Headroom: what is left of it (of the link, for round trips). n: trials it rests on."
    )
    return TextTable(["", "limited by", "headroom", "n", "evidence"], rows, caption, is_text=True)


def counted(found: pd.DataFrame) -> str:
    """How many cases each limit was found in, and what would help, in sentences."""
    counts = Counter(found["limited_by"])
    said = [f"{limit} {count}" for limit, count in counts.most_common()]
    helps = [f"Where it is {limit}, {verdicts.REMEDY[limit]}." for limit in counts if limit in verdicts.REMEDY]
    return f"Of {len(found)} cases: {', '.join(said)}. {' '.join(helps)}" if said else ""


def _case(row: dict[Any, Any]) -> str:
    return f"{stats.row_label(row)}, {setting(row | OPTIONS | row['options'] | {'workload': 'file'})}"
