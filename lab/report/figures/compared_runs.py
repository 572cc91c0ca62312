"""Several runs over a first one: how many times as fast each is, and the speeds themselves."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab import stats
from lab.design.factors import ABSENT
from lab.report.compared.comparison import Comparison
from lab.report.compared.tables import varied_factors, where_from
from lab.report.figures import style
from lab.report.figures.values import tell
from lab.report.prose import short_label, times_as_fast
from lab.report.tables import setting_label
from lab.stats.intervals import Floats
from lab.stats.two_runs import VERSUS, Versus

MOST_LINES = 60  # intervals of a figure: more would be a page high
WHERE = "where"  # key in a row of VERSUS: where the row holds, in words
WIDEST = 2.0  # times the largest mean ratio that is drawn: an interval that is wider leaves the panel
MARKERS = ("o", "s", "^", "v", "P", "<", ">", "D", "X", "p", "h", "d")

INTERVAL = Line2D([], [], color=style.INK, linewidth=1.5, label="95 % interval (Welch's t)")
HOLLOW = style.mark("not established", style.INK, "o", hollow=True)


@dataclass(frozen=True)
class _Row:
    """One row of a figure: its name, and the row of VERSUS of each other run that has it."""

    name: str
    is_bold: bool
    runs: dict[str, stats.Row]


def times_as_fast_figure(comparison: Comparison) -> Figure:
    """A forest of ratios with intervals: over all cases, by protocol, tool and direction, and by case where few."""
    rows, left_out = _rows(comparison)
    figure, axes = _begin(comparison, rows, left_out)
    all_rows = [row for figure_row in rows for row in figure_row.runs.values()]
    logs = np.log([[row[name] for name in ("ratio", "ratio_low", "ratio_high")] for row in all_rows]).reshape(-1, 3)
    low, high = style.limits_of_ratios(logs[:, 0], logs[:, 1:], WIDEST)
    axes.axvline(0, color=style.INK, linewidth=0.8)
    for letter, look, y, run_rows in _places(comparison, rows):
        table = pd.DataFrame(run_rows)
        ratio, ends = np.log(table["ratio"].to_numpy(float)), np.log(table[["ratio_low", "ratio_high"]].to_numpy(float))
        axes.hlines(y, *np.clip(ends, 3 * low, 3 * high).T, color=look[0], linewidth=1.5, zorder=3)
        style.mark_means(axes, ratio, y, (*look, 5), table["established"].to_numpy(bool))
        tell(axes, ratio, y, [_words(row, letter) for row in run_rows])
    style.set_ratio_axis(axes, low, high, "times as fast as A (axis of ratios)", in_times=True)
    letters = ", ".join(other.letter for other in comparison.others)
    style.add_legend(figure, f"{letters}: how many times as fast as A", [*_legend(comparison), INTERVAL, HOLLOW])
    return figure


def speeds_figure(comparison: Comparison) -> Figure:
    """The speeds of each run by protocol, tool and direction, a line from A to each other run."""
    rows = [row for row in _rows(comparison)[0] if row.is_bold and "protocol" in next(iter(row.runs.values()))]
    figure, axes = _begin(comparison, rows, [])
    highest = [0.0]
    for letter, look, y, run_rows in _places(comparison, rows):
        first, second = (np.array([row[f"MB_per_s_{run}"] for row in run_rows], dtype=float) for run in "ab")
        highest += [*first, *second]
        axes.hlines(y, first, second, color=look[0], linewidth=1.2, alpha=0.6, zorder=2)
        axes.plot(first, y, linestyle="", marker="|", markersize=9, markeredgewidth=2, color=style.INK, zorder=4)
        style.mark_means(axes, second, y, (*look, 5), np.ones(len(y), dtype=bool))
        speeds = [f"{row['MB_per_s_a']:.1f} MB/s in A, {row['MB_per_s_b']:.1f} in {letter}" for row in run_rows]
        tell(axes, second, y, [f"{row[WHERE]}: {speed}" for row, speed in zip(run_rows, speeds, strict=True)])
    axes.set_xlim(0, style.limit_of(np.array(highest), np.isfinite(highest)))
    style.name_axes(axes, "", style.SPEED)
    style.add_legend(figure, "Speeds, geometric means", [style.mark("A", style.INK, "|", 9), *_legend(comparison)])
    return figure


ALL: dict[str, Callable[[Comparison], Figure]] = {"times-as-fast": times_as_fast_figure, "speeds": speeds_figure}


def _begin(comparison: Comparison, rows: Sequence[_Row], left_out: Sequence[str]) -> tuple[Figure, Axes]:
    below = [": ".join([run.letter, *filter(None, stats.provenance(run.trials))]) for run in comparison.runs]
    lines = sum(max(1.0, 0.62 * len(row.runs)) for row in rows)
    footer = ["; ".join(map(where_from, comparison.runs)), *below, *left_out]
    figure = style.begin_compared(footer, 0.2 * max(lines, 3))
    axes = figure.subplots()
    style.name_rows(axes, [row.name for row in rows], [style.BOLD if row.is_bold else style.PLAIN for row in rows])
    return figure, axes


def _rows(comparison: Comparison) -> tuple[list[_Row], list[str]]:
    """All cases, then each protocol, tool and direction with its cases below it; and what there is no room for."""
    rows: dict[tuple[object, ...], _Row] = {}
    varied = varied_factors(pd.concat([versus.cases for versus in comparison.versus]), VERSUS)
    for other, versus in zip(comparison.others, comparison.versus, strict=True):
        for key, name, is_bold, row in _of_run(versus, varied):
            if np.isfinite(row["ratio"]):
                rows.setdefault(key, _Row(name, is_bold, {})).runs[other.letter] = row
    keys = {key: place for place, key in enumerate(rows)}
    of = 1 + len(stats.POOLED)  # the key of a case begins with that of its protocol, tool and direction
    ordered = [rows[key] for key in sorted(keys, key=lambda key: (keys.get(key[:of], keys[key]), keys[key]))]
    bold = [row for row in ordered if row.is_bold]
    most = max(1, MOST_LINES // len(comparison.others))
    if len(ordered) <= most:
        return ordered, []
    no_cases = ["cases are not drawn: the table has them all"] if len(ordered) > len(bold) else []
    fewer = [f"rows drawn: {most} of {len(bold)}; the table has them all"] if len(bold) > most else []
    return bold[:most], [*no_cases, *fewer]


def _of_run(versus: Versus, varied: Sequence[str]) -> Iterator[tuple[tuple[object, ...], str, bool, stats.Row]]:
    for row in stats.rows_of(versus.overall):
        yield ("",), "all cases", True, row | {WHERE: "all cases"}
    for row in stats.rows_of(versus.pooled):
        yield ("of", *(row[name] for name in stats.POOLED)), stats.row_label(row), True, row | {WHERE: short_label(row)}
    if len(versus.cases) == len(versus.pooled):
        return
    for row in stats.rows_of(versus.cases):
        key = ("of", *(row.get(name, ABSENT) for name in (*stats.POOLED, *varied)))
        named = [setting_label(name, row[name]) for name in varied if row.get(name, ABSENT) != ABSENT]
        yield key, ", ".join(named), False, row | {WHERE: ", ".join([short_label(row), *named])}


def _places(
    comparison: Comparison, rows: Sequence[_Row]
) -> Iterator[tuple[str, tuple[str, str], Floats, list[stats.Row]]]:
    """The letter of each other run, its colour and marker, the heights of its rows, and the rows."""
    looks = _looks(comparison)
    for number, (letter, look) in enumerate(looks.items()):
        shift = 0.7 * ((number + 0.5) / len(looks) - 0.5)
        having = [(place + shift, row.runs[letter]) for place, row in enumerate(rows) if letter in row.runs]
        if having:
            yield letter, look, np.array([place for place, _ in having]), [row for _, row in having]


def _looks(comparison: Comparison) -> dict[str, tuple[str, str]]:
    looks = zip(itertools.cycle(style.PALETTE), itertools.cycle(MARKERS), strict=False)
    return {other.letter: look for other, look in zip(comparison.others, looks, strict=False)}


def _legend(comparison: Comparison) -> list[Line2D]:
    return [style.mark(letter, *look) for letter, look in _looks(comparison).items()]


def _words(row: stats.Row, letter: str) -> str:
    shown = "" if row["established"] else ", not established"
    rest = f"n = {row['n_a']} and {row['n_b']} blocks"
    return f"{row[WHERE]}: {letter} is {times_as_fast(row, 'A')} ({row['change_pct']:+.1f} %, {rest}){shown}"
