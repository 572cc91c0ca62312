"""The leading figure as text, where no picture can be: marks of a width that all fonts for code share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab import stats
from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.leading import EFFECTS, MOST_ROWS, Leading, case_label, fastest_first, overall_effects
from lab.report.render import TEMPLATE
from lab.report.tables import between, number

WIDTH, LONGEST = 30, 44  # characters of the panel, and of a name
EIGHTHS = " ▏▎▍▌▋▊▉"
INDENT = "    "  # a block of code: there is no fence in it that a name could close


def chart(lead: Leading, run: Analysis) -> str:
    """A line for each row of the leading figure, as a block of code; empty where there is nothing to draw."""
    lines = _effects(overall_effects(run)[:MOST_ROWS]) if lead.figure == EFFECTS else _speeds(run)
    return "\n".join(f"{INDENT}{line}".rstrip() for line in lines)


def how_to_read(lead: Leading) -> str:
    """What the marks of the chart mean."""
    if lead.figure == EFFECTS:
        return (
            "Each line is one setting over all cases: its change (●, or ○ where it is not established) and the 95 % "
            "interval, on an axis of ratios; │ or ┼ is no change."
        )
    return "Each bar is the median of one case, the fastest of each direction first."


def _effects(rows: Sequence[stats.Row]) -> list[str]:
    """A forest of intervals on an axis of logarithms, that holds 0."""
    if not rows:
        return []
    ends = np.log1p(np.array([[row[name] for name in ("low_pct", "change_pct", "high_pct")] for row in rows]) / 100)
    ends = np.clip(np.nan_to_num(ends, neginf=-9.0, posinf=9.0), -9.0, 9.0)  # a factor of 8000: beyond any share
    low, high = min(0.0, float(ends.min())), max(0.0, float(ends.max()))
    scale = (WIDTH - 1) / (high - low) if high > low else 0.0
    zero = round(-low * scale)
    names = _names([stats.compared_label(row) for row in rows])
    lines = []
    for name, row, places in zip(names, rows, np.rint((ends - low) * scale).astype(int), strict=True):
        # an interval without 0 does not touch it, however near it is
        if row["low_pct"] > 0:
            places = np.clip(places, min(zero + 1, WIDTH - 1), WIDTH - 1)
        elif row["high_pct"] < 0:
            places = np.clip(places, 0, max(zero - 1, 0))
        panel = [" "] * WIDTH
        panel[places[0] : places[2] + 1] = "─" * (places[2] + 1 - places[0])
        panel[zero] = "┼" if places[0] <= zero <= places[2] else "│"
        panel[places[1]] = "●" if row["established"] else "○"
        numbers = f"{number(row['change_pct'], '+.1f'):>7} % ({between(row['low_pct'], row['high_pct'], '+.1f')})"
        lines.append(f"{name}  {''.join(panel)}  {numbers}")
    return lines


def _speeds(run: Analysis) -> list[str]:
    """A bar for each of the fastest cases, as long as it is fast."""
    cases = fastest_first(run)
    if cases.empty:
        return []
    shown = cases.groupby("direction", sort=False, observed=True).head(MOST_ROWS // cases["direction"].nunique())
    rows = stats.rows_of(shown)
    longest = max(row["median_MB_per_s"] for row in rows)
    names = _names([case_label(row, cases) for row in rows])
    return [
        f"{name}  {_bar(row['median_MB_per_s'] / longest):<{WIDTH}}  {number(row['median_MB_per_s'], '6.1f')} MB/s"
        for name, row in zip(names, rows, strict=True)
    ]


def _bar(share: float) -> str:
    """Blocks for a share of WIDTH, to an eighth of one."""
    whole, eighths = divmod(round(8 * WIDTH * share), 8)
    return "█" * whole + EIGHTHS[eighths].strip()


def _names(texts: Sequence[str]) -> list[str]:
    """Names of one width, cut where they are longer than LONGEST."""
    named = [TEMPLATE.sub("{ ", one_line(text, LONGEST)) for text in texts]
    width = max(map(len, named))
    return [f"{name:<{width}}" for name in named]
