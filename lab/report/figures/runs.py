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
from lab.base.untrusted import one_line
from lab.design.factors import ABSENT
from lab.report.compared.comparison import Comparison
from lab.report.compared.tables import where_from
from lab.report.compared.words import label, percent, times_as_fast
from lab.report.figures import style
from lab.report.figures.values import tell
from lab.stats.two_runs import VERSUS, Versus

MOST_LINES = 60  # intervals of a figure: more would be a page high
WHERE = "where"  # of a row of VERSUS: where it holds, in words
LONGEST_PART = 390  # characters of what is said of one run below a figure
WIDEST = 2.0  # times the largest mean ratio that is drawn: an interval that is wider leaves the panel
MARKERS = ("o", "s", "^", "v", "P", "<", ">", "D", "X", "p", "h", "d")
BOLD, PLAIN = {"weight": "bold", "fontsize": 8.5}, {"fontsize": 7.5}
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
    every = [row for of_row in rows for row in of_row.runs.values()]
    logs = np.log([[row[name] for name in ("ratio", "ratio_low", "ratio_high")] for row in every]).reshape(-1, 3)
    low, high = style.limits_of_ratios(logs[:, 0], logs[:, 1:], WIDEST)
    axes.axvline(0, color=style.INK, linewidth=0.8)
    for letter, look, y, of_run in _places(comparison, rows):
        table = pd.DataFrame(of_run)
        ratio, ends = np.log(table["ratio"].to_numpy(float)), np.log(table[["ratio_low", "ratio_high"]].to_numpy(float))
        axes.hlines(y, *np.clip(ends, 3 * low, 3 * high).T, color=look[0], linewidth=1.5, zorder=3)
        style.mark_means(axes, ratio, y, (*look, 5), table["established"].to_numpy(bool))
        tell(axes, ratio, y, [_words(row, letter) for row in of_run])
    style.set_axis(axes, low, high, style.times_ticks(low, high), "times as fast as A (axis of ratios)")
    letters = ", ".join(other.letter for other in comparison.others)
    style.add_legend(figure, f"{letters}: how many times as fast as A", [*_legend(comparison), INTERVAL, HOLLOW])
    return figure


def speeds_figure(comparison: Comparison) -> Figure:
    """The speeds of each run by protocol, tool and direction, a line from A to each other run."""
    rows = [row for row in _rows(comparison)[0] if row.is_bold and "protocol" in next(iter(row.runs.values()))]
    figure, axes = _begin(comparison, rows, [])
    highest = [0.0]
    for letter, look, y, of_run in _places(comparison, rows):
        first, second = (np.array([row[f"MB_per_s_{run}"] for row in of_run], dtype=float) for run in "ab")
        highest += [*first, *second]
        axes.hlines(y, first, second, color=look[0], linewidth=1.2, alpha=0.6, zorder=2)
        axes.plot(first, y, linestyle="", marker="|", markersize=9, markeredgewidth=2, color=style.INK, zorder=4)
        style.mark_means(axes, second, y, (*look, 5), np.ones(len(y), dtype=bool))
        named = [f"{row[WHERE]}: {row['MB_per_s_a']:.1f} MB/s in A, {row['MB_per_s_b']:.1f} in {letter}"
                 for row in of_run]  # fmt: skip
        tell(axes, second, y, named)
    speeds = np.array(highest)
    axes.set_xlim(0, style.limit_of(speeds, np.isfinite(speeds)))
    style.name_axes(axes, "", style.SPEED)
    base = style.mark("A", style.INK, "|", 9)
    style.add_legend(figure, "Speeds, geometric means", [base, *_legend(comparison)])
    return figure


ALL: dict[str, Callable[[Comparison], Figure]] = {"times-as-fast": times_as_fast_figure, "speeds": speeds_figure}


def _begin(comparison: Comparison, rows: Sequence[_Row], left_out: Sequence[str]) -> tuple[Figure, Axes]:
    below = [one_line(": ".join([run.letter, *filter(None, stats.provenance(run.trials))])) for run in comparison.runs]
    named = [one_line("; ".join(map(where_from, comparison.runs)))]
    lines = sum(max(1.0, 0.62 * len(row.runs)) for row in rows)
    footer = [one_line(part, LONGEST_PART) for part in (*named, *below, *left_out)]
    height = sum(0.13 * -(-len(part) // 130) for part in footer)  # of as many lines as each is wrapped into
    figure = style.begin_over(footer, 1.3 + height + 0.2 * max(lines, 3))
    axes = figure.subplots()
    style.name_rows(axes, [row.name for row in rows], [BOLD if row.is_bold else PLAIN for row in rows])
    return figure, axes


def _rows(comparison: Comparison) -> tuple[list[_Row], list[str]]:
    """All cases, then each protocol, tool and direction with its cases below it; and what there is no room for."""
    rows: dict[tuple[object, ...], _Row] = {}
    varied = _varied([versus.cases for versus in comparison.versus])
    for other, versus in zip(comparison.others, comparison.versus, strict=True):
        for key, name, is_bold, row in _of_run(versus, varied):
            if np.isfinite(row["ratio"]):
                rows.setdefault(key, _Row(name, is_bold, {})).runs[other.letter] = row
    ordered = [rows[key] for key in sorted(rows, key=lambda key: _order(key, list(rows)))]
    bold = [row for row in ordered if row.is_bold]
    most = max(1, MOST_LINES // len(comparison.others))
    if len(ordered) <= most:
        return ordered, []
    of_cases = ["cases are not drawn: the table has them all"] if len(ordered) > len(bold) else []
    fewer = [f"rows drawn: {most} of {len(bold)}; the table has them all"] if len(bold) > most else []
    return bold[:most], [*of_cases, *fewer]


def _order(key: tuple[object, ...], keys: Sequence[tuple[object, ...]]) -> tuple[int, int]:
    """Cases after the row of their protocol, tool and direction, else in order of appearance."""
    parent = key[: 1 + len(stats.POOLED)]
    return keys.index(parent) if parent in keys else keys.index(key), keys.index(key)


def _varied(tables: Sequence[pd.DataFrame]) -> list[str]:
    """The factors that tell cases of one protocol, tool and direction apart, in any of the tables."""
    every = pd.concat(tables)
    names = [str(name) for name in every if name not in (*VERSUS, *stats.POOLED)]
    return [name for name in names if every[name].nunique() > 1]


def _of_run(versus: Versus, varied: Sequence[str]) -> Iterator[tuple[tuple[object, ...], str, bool, stats.Row]]:
    """The key of each row, its name, whether that is bold, and the numbers of one run."""
    for row in stats.rows_of(versus.overall):
        yield ("",), "all cases", True, row | {WHERE: "all cases"}
    for row in stats.rows_of(versus.pooled):
        yield ("of", *(row[name] for name in stats.POOLED)), stats.row_label(row), True, row | {WHERE: label(row)}
    if len(versus.cases) == len(versus.pooled):
        return
    for row in stats.rows_of(versus.cases):
        key = ("of", *(row.get(name, ABSENT) for name in (*stats.POOLED, *varied)))
        levels = [(name, row[name]) for name in varied if row.get(name, ABSENT) != ABSENT]
        named = [f"{stats.factor_label(name)} {stats.level_label(name, level)}" for name, level in levels]
        yield key, ", ".join(named), False, row | {WHERE: ", ".join([label(row), *named])}


def _places(
    comparison: Comparison, rows: Sequence[_Row]
) -> Iterator[tuple[str, tuple[str, str], np.ndarray[tuple[int], np.dtype[np.float64]], list[stats.Row]]]:
    """The letter of each other run, its colour and marker, the heights of its rows, and the rows."""
    letters = [other.letter for other in comparison.others]
    looks = _looks(comparison)
    for number, letter in enumerate(letters):
        shift = 0.7 * ((number + 0.5) / len(letters) - 0.5)
        having = [(place + shift, row.runs[letter]) for place, row in enumerate(rows) if letter in row.runs]
        if having:
            yield letter, looks[letter], np.array([place for place, _ in having]), [row for _, row in having]


def _looks(comparison: Comparison) -> dict[str, tuple[str, str]]:
    looks = zip(itertools.cycle(style.PALETTE), itertools.cycle(MARKERS), strict=False)
    return {other.letter: look for other, look in zip(comparison.others, looks, strict=False)}


def _legend(comparison: Comparison) -> list[Line2D]:
    return [style.mark(letter, *look) for letter, look in _looks(comparison).items()]


def _words(row: stats.Row, letter: str) -> str:
    """What a mark stands for: of what, the ratio, its interval, the change, and what it rests on."""
    shown = "" if row["established"] else ", not established"
    rest = f"n = {row['n_a']} and {row['n_b']} blocks"
    return f"{row[WHERE]}: {letter} is {times_as_fast(row, 'A')} ({percent(row)}, {rest}){shown}"
