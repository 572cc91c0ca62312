"""The content of a figure in words and numbers, for readers who do not see it."""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from lab import stats
from lab.base.groups import grouped
from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.answer_points import effect_words
from lab.report.bottlenecks import NAMES, narrowest
from lab.report.leading import case_label, fastest_first, overall_effects
from lab.report.prose import FEWER_THAN_TWO, capitalised, drift_sentence, interaction_sentences
from lab.stats.stages import STAGES, TOOL, fastest_cases

ABOUT = {
    "throughput": "A strip of marks for each case, one panel a direction: every trial, its median, and its ceiling.",
    "waterfall": "A bar for each stage from the disk to the tool, one panel a direction.",
    "effects": "A forest of intervals: what each level of a setting changes, over all cases and in each of them.",
    "interactions": "A forest of intervals: how far two settings together are from what each gives alone.",
    "shares": "A bar for each setting: its share of the variation of speeds.",
    "cpu_cost": "A strip of marks for each case, one panel a host: CPU seconds of every trial for a gigabyte.",
    "timeline": "Every trial in the order in which it ran, and below how far it lies from its own case.",
}
LONGEST = 1200  # characters: names of cases may have any length
MOST = 5  # numbers of each kind: a text is heard from its begin to its end


def describe(figure: str, run: Analysis) -> str:
    """A figure of ``lab.report.figures.ALL``: its kind, and the most important of its numbers."""
    return one_line(" ".join(filter(None, [ABOUT[figure], NUMBERS[figure](run)])), LONGEST)


def _throughput(run: Analysis) -> str:
    cases, directions = fastest_first(run), []
    for direction, rows in _by_direction(cases).items():
        ends = [f"{row['median_MB_per_s']:.1f} MB/s ({case_label(row, cases)})" for row in (rows[-1], rows[0])]
        directions.append(f"{capitalised(direction)}: {' to '.join(dict.fromkeys(ends))}")
    return f"{'; '.join(directions)}." if directions else ""


def _by_direction(table: pd.DataFrame) -> dict[str, list[stats.Row]]:
    return grouped((str(row["direction"]), row) for row in stats.rows_of(table))


def _cpu_cost(run: Analysis) -> str:
    good = stats.measured(run.trials)
    sides = {side: good[f"{side}_cpu_s_per_GB"].astype(float).dropna() for side in ("client", "server")}
    statements = [
        f"{side}: {values.min():.2g} to {values.max():.2g} s, median {values.median():.2g} s"
        for side, values in sides.items()
        if len(values)
    ]
    return f"{capitalised('; '.join(statements))}." if statements else ""


def _some(statements: Iterable[str], begin: str = "") -> str:
    first = list(statements)
    more = f"; and {len(first) - MOST} more" if len(first) > MOST else ""
    return f"{begin}{'; '.join(first[:MOST])}{more}." if first else ""


def _shares(run: Analysis) -> str:
    table = run.shares.table.dropna(subset="share").sort_values("share", ascending=False, kind="stable")
    return _some(f"{stats.term_label(row['term'])} {100 * row['share']:.1f} %" for row in stats.rows_of(table))


def _stages(run: Analysis) -> str:
    """Every stage of the fastest tool of each direction, and which stage is the narrowest."""
    directions = []
    for direction, rows in _by_direction(fastest_cases(run.waterfall)).items():
        row = max(rows, key=lambda row: float(row[TOOL]))
        speeds = [f"{NAMES[stage]} {row[stage]:,.1f}" for stage in STAGES if not np.isnan(row[stage])]
        least = narrowest(row)
        narrow = f"; the narrowest by itself is the {NAMES[least]}" if least else ""
        tool = stats.row_label({name: row[name] for name in ("protocol", "tool")})
        directions.append(f"{capitalised(direction)} in MB/s, of {tool}, the fastest: {', '.join(speeds)}{narrow}")
    return f"{'. '.join(directions)}." if directions else ""


NUMBERS: dict[str, Callable[[Analysis], str]] = {
    "throughput": _throughput,
    "waterfall": _stages,
    "effects": lambda run: _some(map(effect_words, overall_effects(run)), "Over all cases, with 95 % intervals: "),
    "interactions": lambda run: interaction_sentences(run.interactions) or FEWER_THAN_TWO,
    "shares": _shares,
    "cpu_cost": _cpu_cost,
    "timeline": lambda run: drift_sentence(run.drift),
}
