"""Every trial a mark in a strip of its own setting: throughput, and what it costs in CPU."""

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab import stats
from lab.design.case import is_of_names
from lab.design.factors import ABSENT, LINK, owner_of
from lab.report.analysis import Run, analyse
from lab.report.figures import style
from lab.report.figures.values import tell

MOST_ROWS, MOST_STRIPS = 40, 160  # of a figure: more would be a page high, and take seconds to draw
CEILING = Line2D(
    [], [], color=style.PALE, linestyle="", marker="|", markersize=9, markeredgewidth=2, label="ceiling (iperf3)"
)
Floats = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Strips:
    """Transfers by row and by strip within it: named ``rows``, each of so many ``clients``, with a strip for every one
    of ``kinds``. ``names`` are the levels of each kind in words, those of factors that vary. ``levels`` of each factor
    that occur; of each trial its ``strip``, the number of its ``direction``, whether it is ``ok``, and its values.
    """

    rows: Sequence[str]
    kinds: Sequence[tuple[stats.Level, ...]]
    names: Sequence[Sequence[str]]
    levels: dict[str, list[stats.Level]]
    strip: npt.NDArray[np.intp]
    direction: npt.NDArray[np.intp]
    ok: Chosen
    values: dict[str, Floats]
    clients: Sequence[stats.Level]
    notes: Sequence[str]

    @property
    def half(self) -> float:
        """Half the height of a strip, where a row has a height of 1."""
        return 0.41 / len(self.kinds)

    def centre(self, strip: npt.NDArray[np.intp]) -> Floats:
        """The height at which strips lie."""
        row, number = np.divmod(strip, len(self.kinds))
        return row - 0.41 + self.half * (2 * number + 1)


def throughput(run: Run) -> Figure:
    """Speed of every trial by protocol and tool, one panel a direction; the ceiling beside each strip of trials."""
    run, title = analyse(run), "Throughput of every trial"
    trials = run.trials
    strips = _strips(trials, ["MB_per_s"], ("mtu", "tcp_space"))
    if strips is None:
        are_names = len(trials.cases.cell) > 0 and bool(_of_names(trials).all())
        return style.empty(
            trials, "Throughput", "only names were moved" if are_names else "no transfer could be measured"
        )
    mtus, spaces, directions = (strips.levels[name] for name in ("mtu", "tcp_space", "direction"))
    colours, markers = style.styles(mtus, style.PALETTE), style.styles(spaces, style.MARKERS)
    looks = [(colours[mtu], markers[space]) for mtu, space in strips.kinds]
    ceilings = run.ceilings.set_index(["direction", *LINK])["median_MB_per_s"].dropna().to_dict()
    of_blocks = _ceilings_of_blocks(trials)
    highest = max((max(values) for values in of_blocks.values()), default=0)
    limit = max(style.limit_of(strips.values["MB_per_s"], strips.ok), 1.09 * highest)
    figure, panels = _panels(trials, strips, len(directions))
    for number, (axes, direction) in enumerate(zip(panels, directions, strict=True)):
        here = strips.direction == number
        used = np.flatnonzero(np.bincount(strips.strip[here]))
        of_used = [int(kind) for kind in used % len(strips.kinds)]
        rows = [strips.clients[int(row)] for row in used // len(strips.kinds)]
        networks = [(direction, *strips.kinds[kind], row) for kind, row in zip(of_used, rows, strict=True)]
        reached = [ceilings.get(network, np.nan) for network in networks]
        _ticks(axes, strips, used, reached, [looks[kind][0] for kind in of_used], 1.8)
        _mark_ceilings(axes, strips, used, [of_blocks.get(network, []) for network in networks], looks)
        _draw(axes, strips, here, "MB_per_s", looks, limit)
        _tell(axes, strips, here, "MB_per_s", f"{direction}: {{}} MB/s")
        style.name_axes(axes, style.WAYS[direction], style.SPEED)
        axes.set_xlim(0, 1.03 * limit)
    handles = style.few([style.mark(f"MTU {mtu}", colours[mtu], "o") for mtu in mtus])
    handles += style.few(
        [style.mark(f"TCP buffer {stats.size_label(space)}", style.PALE, markers[space]) for space in spaces]
    )
    style.add_legend(
        figure,
        title,
        [*handles, CEILING, style.mark("ceiling of one block", style.PALE, "|", 4), style.MEDIAN, style.CROSS],
    )
    return figure


def cpu_cost(run: Run) -> Figure:
    """CPU seconds per GB moved, on the client and on the server: every trial a mark, the median a bar."""
    trials = analyse(run).trials
    columns = {"client": "client_cpu_s_per_GB", "server": "server_cpu_s_per_GB"}
    strips = _strips(trials, list(columns.values()), ("direction", "mtu"))
    if strips is None:
        return style.empty(trials, "CPU cost", "CPU time was not measured")
    mtus, directions = strips.levels["mtu"], strips.levels["direction"]
    colours = style.styles(mtus, style.PALETTE)
    looks = [(colours[mtu], style.WAY_MARKERS[direction]) for direction, mtu in strips.kinds]
    limit = max(style.limit_of(values, strips.ok) for values in strips.values.values())
    figure, panels = _panels(trials, strips, len(columns))
    for axes, (side, column) in zip(panels, columns.items(), strict=True):
        measured = np.isfinite(strips.values[column])
        used, medians = _draw(axes, strips, measured, column, looks, limit)
        _tell(axes, strips, measured, column, f"{side}: {{}} CPU seconds per GB")
        bars = [looks[kind][0] for kind in used % len(looks)]
        style.draw_bars(axes, strips.centre(used), medians, 0.85 * strips.half, bars)
        style.name_axes(axes, f"on the {side}", "CPU seconds per GB (10⁹ bytes)")
        if not measured.any():
            style.note(axes, "not measured")
        axes.set_xlim(0, 1.03 * limit)
    handles = style.few([style.mark(f"MTU {mtu}", colours[mtu], "o") for mtu in mtus])
    handles += [style.mark(style.WAYS[way], style.PALE, style.WAY_MARKERS[way]) for way in directions]
    style.add_legend(figure, "CPU cost of a gigabyte moved", [*handles, style.MEDIAN, style.CROSS])
    return figure


def _strips(trials: stats.Encoded, values: Sequence[str], factors: Sequence[str]) -> _Strips | None:
    """The transfers that have one of ``values``, by row (protocol, tool, every other factor that varies) and strip."""
    measured = {name: trials.values(name)[trials.transfer] for name in values}
    shown: Chosen = np.logical_or.reduce([~np.isnan(column) for column in measured.values()])
    shown &= ~_of_names(trials)
    if not shown.any():
        return None
    cases, notes = trials.cases.only(shown), []
    row, rows = pd.factorize(pd.Series(_row_names(cases)), sort=False)
    kinds = list(itertools.product(*(cases.levels[name] for name in factors)))
    most = max(1, min(MOST_ROWS, MOST_STRIPS // len(kinds)))
    if len(rows) > most:
        notes = [f"rows drawn: the first {most} of {len(rows)}; the table has them all"]
    drawn = (row < most)[cases.cell]
    shown[shown] = drawn
    kind = np.ravel_multi_index([cases.code(name) for name in factors], [len(cases.levels[name]) for name in factors])
    cell = cases.cell[drawn]
    clients = np.array(cases.levels["clients"], object)[cases.code("clients")]
    of_rows = clients[np.unique(row, return_index=True)[1]]
    return _Strips(
        list(rows[:most]), kinds, _names_of(kinds, cases, factors), cases.levels, (row * len(kinds) + kind)[cell],
        cases.code("direction")[cell],
        trials.ok[trials.transfer][shown], {name: column[shown] for name, column in measured.items()},
        list(of_rows), notes,
    )  # fmt: skip


def _names_of(kinds: Sequence[tuple[stats.Level, ...]], cases: stats.Cells, factors: Sequence[str]) -> list[list[str]]:
    """The levels of each kind in words, but for a direction that a panel names, and for what is the same in all."""
    named = [len(cases.levels[name]) > 1 for name in factors]
    return [
        [
            str(level) if name == "direction" else f"{stats.factor_label(name)} {stats.level_label(name, level)}"
            for name, level, varies in zip(factors, kind, named, strict=True)
            if varies
        ]
        for kind in kinds
    ]  # fmt: skip


def _of_names(trials: stats.Encoded) -> Chosen:
    """The transfers that moved names alone: their bytes say nothing."""
    workloads = np.array([is_of_names(str(level)) for level in trials.cases.levels["workload"]], dtype=bool)
    of_names: Chosen = workloads[trials.cases.code("workload")][trials.cases.cell]
    return of_names


def _row_names(cases: stats.Cells) -> list[str]:
    """The name of each cell's row: protocol, tool, and whatever else varies that is told apart in no other way."""
    row_factors = [name for name in cases.levels if name not in ("mtu", "tcp_space", "direction")]
    named = [name for name in row_factors if name in ("protocol", "tool") or len(cases.levels[name]) > 1]
    columns = [[_level_name(name, cases.levels[name][code]) for code in cases.code(name)] for name in named]
    return [" ".join(filter(None, names)) for names in zip(*columns, strict=True)]


def _level_name(factor: str, level: stats.Level) -> str:
    """A level in the name of a row. An option of a mount or tool stands with its name: many levels are numbers."""
    if not owner_of(factor):
        label = stats.level_label(factor, level)
        return f"{stats.factor_label(factor)} {label}" if label.isdecimal() else label
    return "" if level == ABSENT else f"{factor.partition('.')[2]} {level}"


def _panels(trials: stats.Encoded, strips: _Strips, count: int) -> tuple[Figure, list[Axes]]:
    """A figure with ``count`` panels beside each other that share their rows."""
    height = 1.7 + len(strips.rows) * max(0.34, min(1.2, 0.11 * len(strips.kinds) + 0.06))
    figure = style.begin(trials, height, [*strips.notes, *style.sample(len(strips.strip) // count)[1]])
    panels = list(figure.subplots(1, count, sharex=True, sharey=True, squeeze=False).flat)
    style.name_rows(panels[0], strips.rows)
    for axes in panels[1:]:
        style.shade_rows(axes, len(strips.rows))
    return figure, panels


def _draw(
    axes: Axes,
    strips: _Strips,
    chosen: npt.NDArray[np.bool_],
    column: str,
    looks: Sequence[tuple[str, str]],
    limit: float,
) -> tuple[npt.NDArray[np.intp], Floats]:
    """The marks, crosses and medians of the chosen trials; the strips that have any good trial, and their medians."""
    values, ok, strip = strips.values[column][chosen], strips.ok[chosen], strips.strip[chosen]
    of_strips = stats.sort_by_group(strip[ok], values[ok], len(strips.rows) * len(strips.kinds))
    used = np.array([number for number, of_strip in enumerate(of_strips) if len(of_strip)], dtype=np.intp)
    medians = np.array([stats.median(of_strips[number]) for number in used])
    _ticks(axes, strips, used, medians, [style.INK] * len(used), 1.8)
    places = np.flatnonzero(ok)[style.sample(int(ok.sum()))[0]]
    # The golden ratio spreads any number of marks evenly, and the same trial is always at the same place.
    spread = (pd.Series(strip[places]).groupby(strip[places]).cumcount().to_numpy() * 0.618034 + 0.5) % 1 - 0.5
    y = strips.centre(strip[places]) + spread * strips.half
    kind = strip[places] % len(looks)
    for look in dict.fromkeys(looks):
        alike = np.array([other == look for other in looks])[kind]
        if alike.any():
            style.add_marks(axes, values[places][alike], y[alike], *look, count=len(places))
    lost = np.flatnonzero(~ok)[style.sample(int((~ok).sum()))[0]]
    style.add_crosses(axes, np.minimum(values[lost], limit), strips.centre(strip[lost]), values[lost], limit)
    return used, medians


def _tell(axes: Axes, strips: _Strips, chosen: Chosen, column: str, pattern: str) -> None:
    """The words of each median: its case, the interval, and what it rests on."""
    good = chosen & strips.ok
    of_strips = stats.sort_by_group(
        strips.strip[good], strips.values[column][good], len(strips.rows) * len(strips.kinds)
    )  # fmt: skip
    used = [number for number, of_strip in enumerate(of_strips) if len(of_strip)]
    words = []
    for number in used:
        values = of_strips[number]
        low, high = stats.median_interval(values)
        interval = "no interval" if np.isnan(low) else f"95 % interval {low:.1f} to {high:.1f}"
        row, kind = divmod(number, len(strips.kinds))
        case = ", ".join([strips.rows[row], *(name for name in strips.names[kind] if name)])
        words.append(f"{case}, {pattern.format(f'{stats.median(values):.1f}')} ({interval}, n = {len(values)})")
    medians = [stats.median(of_strips[number]) for number in used]
    tell(axes, medians, strips.centre(np.array(used, dtype=np.intp)), words)


def _ceilings_of_blocks(trials: stats.Encoded) -> dict[Hashable, list[float]]:
    """What iperf3 reached in each block, by direction and LINK."""
    links = trials.frame[trials.ceiling & trials.good]
    speeds = links.groupby(["direction", *LINK], sort=False, observed=True)["MB_per_s"]
    return {setting: of_setting.tolist() for setting, of_setting in speeds}


def _mark_ceilings(
    axes: Axes,
    strips: _Strips,
    used: npt.NDArray[np.intp],
    ceilings: Sequence[Sequence[float]],
    looks: Sequence[tuple[str, str]],
) -> None:
    """A short tick for each block's own ceiling, in each of the strips in use."""
    count = [len(of_strip) for of_strip in ceilings]
    chosen = style.sample(sum(count))[0]
    x, strip = np.array([speed for of_strip in ceilings for speed in of_strip]), np.repeat(used, count)
    y, half = strips.centre(strip), 0.4 * strips.half
    colours = np.array([looks[int(kind)][0] for kind in strip % len(looks)])
    axes.vlines(
        x[chosen], (y - half)[chosen], (y + half)[chosen], colors=list(colours[chosen]), linewidth=0.7, zorder=2,
        rasterized=len(chosen) > style.MOST_VECTORS,
    )  # fmt: skip


def _ticks(
    axes: Axes, strips: _Strips, used: npt.NDArray[np.intp], x: npt.ArrayLike, colours: Sequence[str], width: float
) -> None:
    y = strips.centre(used)
    axes.vlines(x, y - 0.9 * strips.half, y + 0.9 * strips.half, colors=list(colours), linewidth=width, zorder=4)
