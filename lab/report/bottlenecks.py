"""What limited each case, as a report shows it."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from lab import stats
from lab.design.factors import ABSENT, OPTIONS
from lab.report.tables import TextTable, levels, number, varied_and_alike
from lab.stats import bottleneck
from lab.stats.time_budget import SHORT_S


def limits_table(verdicts: pd.DataFrame) -> TextTable:
    """One line a case: what it was limited by, what is left of that, and why (:mod:`lab.stats.bottleneck`)."""
    judged = stats.rows_of(verdicts)
    cases = pd.DataFrame([_settings(row) for row in judged]).fillna(ABSENT)
    varied, alike = varied_and_alike(cases)
    rows = [
        [
            ", ".join([stats.row_label(row), *levels(case, varied)]), row["limited_by"], row["grade"],
            number(100 * row["headroom"], ".0f", " %"), str(row["n"]), row["evidence"],
        ]
        for row, case in zip(judged, stats.rows_of(cases), strict=True)
    ]  # fmt: skip
    caption = (
        "What limited each case. Headroom: what is left of it (of the link, where time was lost). n: trials it rests "
        f"on. {_short_trials(verdicts)}{alike}"
    )
    return TextTable(["", "limited by", "grade", "headroom", "n", "evidence"], rows, caption, is_text=True)


def limits_over_runs(limits: pd.DataFrame, runs: int, unjudged: int) -> TextTable:
    """One line a case and limit that was found in any of so many runs (:attr:`lab.dataset.pooled.Pooled.limits`)."""
    found = ("limited_by", "runs", "certain", "headroom", "evidence")
    cases = limits.drop(columns=list(found))
    varied, alike = varied_and_alike(cases)
    rows = [
        [
            ", ".join([stats.row_label(row), *levels(row, varied)]), row["limited_by"], str(row["runs"]),
            str(row["certain"]), number(100 * row["headroom"], ".0f", " %"), row["evidence"],
        ]
        for row in stats.rows_of(limits)
    ]  # fmt: skip
    lacking = f"{unjudged} of {runs} runs were added by an older lab, which kept no limits. " if unjudged else ""
    caption = (
        "What limited each case, as each run by itself says: in how many runs, and in how many for certain. Headroom: "
        f"what is left of it, the median. Evidence: that of the newest run. {lacking}{alike}"
    )
    return TextTable(["", "limited by", "runs", "certain", "headroom", "evidence"], rows, caption, is_text=True)


def _short_trials(verdicts: pd.DataFrame) -> str:
    """A warning of trials so short that what starts and ends them counts for much; empty where there are none."""
    short = int((verdicts["elapsed_s"] < SHORT_S).sum())
    if not short:
        return ""
    return (
        f"{short} of {len(verdicts)} cases took less than {SHORT_S:g} s a trial: their start and end weigh more than "
        "in larger files. "
    )


def count_limits(verdicts: pd.DataFrame) -> str:
    """How many cases each limit was found in, and what would help, in sentences."""
    counts = Counter(verdicts["limited_by"])
    counted_limits = [f"{limit} {count}" for limit, count in counts.most_common()]
    helps = [f"Where it is {limit}, {advice}." for limit in counts if (advice := bottleneck.remedy(limit))]
    return f"Of {len(verdicts)} cases: {', '.join(counted_limits)}. {' '.join(helps)}" if counted_limits else ""


def _settings(row: stats.Row) -> stats.Row:
    """A case as one row of a summary has it."""
    return {**{name: row[name] for name in bottleneck.CASE if name != "options"}, **OPTIONS, **row["options"]}
