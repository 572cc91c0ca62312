"""Every trial as a mark in the strip of its setting: throughput, and what it costs in CPU."""

import itertools
from collections.abc import Sequence
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
from lab.report.tables import setting_label
from lab.stats.intervals import Floats

MOST_ROWS, MOST_STRIPS = 40, 160  # in a figure; more would be a page high, and take seconds to draw
CEILING = Line2D(
    [], [], color=style.PALE, linestyle="", marker="|", markersize=9, markeredgewidth=2, label="ceiling (iperf3)"
)


@dataclass(frozen=True)
class _Strips:
    """Transfers in ``rows`` of one number of ``clients`` each, with a strip for every one of ``kinds``.

    ``names`` are the levels of each kind in words, where they vary, and ``levels`` those of each factor that occur.
    Each trial has its ``strip``, the number of its ``direction``, whether it is ``ok``, and its values.
    """

    rows: Sequence[str]
    kinds: Sequence[tuple[stats.Level, ...]]
    names: Sequence[Sequence[str]]
    levels: dict[str, list[stats.Level]]
    strip: style.Places
    direction: style.Places
    ok: style.Flags
    values: dict[str, Floats]
    clients: Sequence[stats.Level]
    notes: Sequence[str]

    @property
    def half(self) -> float:
        """Half the height of a strip, where a row has a height of 1."""
        return 0.41 / len(self.kinds)

    def centre(self, strip: style.Places) -> Floats:
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
        why = "only names were moved" if are_names else "no transfer could be measured"
        return style.empty(trials, "Throughput", why)
    mtus, spaces, directions = (strips.levels[name] for name in ("mtu", "tcp_space", "direction"))
    colours, markers = style.styles(mtus, style.PALETTE), style.styles(spaces, style.MARKERS)
    looks = [(colours[mtu], markers[space]) for mtu, space in strips.kinds]
    ceilings = run.ceilings.set_index(["direction", *LINK])["median_MB_per_s"].dropna().to_dict()
    by_network = trials.frame[trials.ceiling & trials.good].groupby(["direction", *LINK], sort=False, observed=True)
    block_ceilings = {network: speeds.tolist() for network, speeds in by_network["MB_per_s"]}
    highest = max((max(values) for values in block_ceilings.values()), default=0)
    limit = max(style.limit_of(strips.values["MB_per_s"], strips.ok), 1.09 * highest)
    figure, panels = _panels(trials, strips, len(directions))
    for number, (axes, direction) in enumerate(zip(panels, directions, strict=True)):
        here = strips.direction == number
        used = np.flatnonzero(np.bincount(strips.strip[here]))
        kinds_used = [int(kind) for kind in used % len(strips.kinds)]
        rows = [strips.clients[int(row)] for row in used // len(strips.kinds)]
        networks = [(direction, *strips.kinds[kind], row) for kind, row in zip(kinds_used, rows, strict=True)]
        reached = [ceilings.get(network, np.nan) for network in networks]
        _ticks(axes, strips, used, reached, [looks[kind][0] for kind in kinds_used])
        _mark_ceilings(axes, strips, used, [block_ceilings.get(network, []) for network in networks], looks)
        speeds = np.where(here, strips.values["MB_per_s"], np.nan)
        _draw(axes, strips, speeds, looks, limit, f"{direction}: {{}} MB/s")
        style.name_axes(axes, style.WAYS[direction], style.SPEED)
        axes.set_xlim(0, 1.03 * limit)
    handles = style.few([style.mark(f"MTU {mtu}", colours[mtu], "o") for mtu in mtus])
    buffers = [style.mark(f"TCP buffer {stats.size_label(space)}", style.PALE, markers[space]) for space in spaces]
    block_tick = style.mark("ceiling of one block", style.PALE, "|", 4)
    style.add_legend(figure, title, [*handles, *style.few(buffers), CEILING, block_tick, style.MEDIAN, style.CROSS])
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
        seconds = strips.values[column]
        used, medians = _draw(axes, strips, seconds, looks, limit, f"{side}: {{}} CPU seconds per GB")
        bars = [looks[kind][0] for kind in used % len(looks)]
        style.draw_bars(axes, strips.centre(used), medians, 0.85 * strips.half, bars)
        style.name_axes(axes, f"on the {side}", "CPU seconds per GB (10⁹ bytes)")
        if np.isnan(seconds).all():
            style.note(axes, "not measured")
        axes.set_xlim(0, 1.03 * limit)
    handles = style.few([style.mark(f"MTU {mtu}", colours[mtu], "o") for mtu in mtus])
    handles += [style.mark(style.WAYS[way], style.PALE, style.WAY_MARKERS[way]) for way in directions]
    style.add_legend(figure, "CPU cost of a gigabyte moved", [*handles, style.MEDIAN, style.CROSS])
    return figure


def _strips(trials: stats.Encoded, values: Sequence[str], factors: Sequence[str]) -> _Strips | None:
    """The transfers that have one of ``values``, by row (protocol, tool, every other factor that varies) and strip."""
    measured = {name: trials.values(name)[trials.transfer] for name in values}
    shown: style.Flags = np.logical_or.reduce([~np.isnan(column) for column in measured.values()])
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
    row_clients = clients[np.unique(row, return_index=True)[1]]
    return _Strips(
        list(rows[:most]), kinds, _names_of(kinds, cases, factors), cases.levels, (row * len(kinds) + kind)[cell],
        cases.code("direction")[cell],
        trials.ok[trials.transfer][shown], {name: column[shown] for name, column in measured.items()},
        list(row_clients), notes,
    )  # fmt: skip


def _names_of(kinds: Sequence[tuple[stats.Level, ...]], cases: stats.Cells, factors: Sequence[str]) -> list[list[str]]:
    """The levels of each kind in words, but for a direction that a panel names, and for what is the same in all."""
    return [
        [
            str(level) if name == "direction" else setting_label(name, level)
            for name, level in zip(factors, kind, strict=True)
            if len(cases.levels[name]) > 1
        ]
        for kind in kinds
    ]


def _of_names(trials: stats.Encoded) -> style.Flags:
    workloads = np.array([is_of_names(str(level)) for level in trials.cases.levels["workload"]], dtype=bool)
    of_names: style.Flags = workloads[trials.cases.code("workload")][trials.cases.cell]
    return of_names


def _row_names(cases: stats.Cells) -> list[str]:
    """The name of each cell's row: protocol, tool, and the other factors that vary and have no look."""
    row_factors = [name for name in cases.levels if name not in ("mtu", "tcp_space", "direction")]
    named = [name for name in row_factors if name in ("protocol", "tool") or len(cases.levels[name]) > 1]
    columns = [[_level_name(name, cases.levels[name][code]) for code in cases.code(name)] for name in named]
    return [" ".join(filter(None, names)) for names in zip(*columns, strict=True)]


def _level_name(factor: str, level: stats.Level) -> str:
    """A level in the name of a row; an option has its name beside it because many levels are numbers."""
    if not owner_of(factor):
        label = stats.level_label(factor, level)
        return f"{stats.factor_label(factor)} {label}" if label.isdecimal() else label
    return "" if level == ABSENT else f"{factor.partition('.')[2]} {level}"


def _panels(trials: stats.Encoded, strips: _Strips, count: int) -> tuple[Figure, list[Axes]]:
    height = 1.7 + len(strips.rows) * max(0.34, min(1.2, 0.11 * len(strips.kinds) + 0.06))
    figure = style.begin(trials, height, [*strips.notes, *style.sample(len(strips.strip) // count)[1]])
    panels = list(figure.subplots(1, count, sharex=True, sharey=True, squeeze=False).flat)
    style.name_rows(panels[0], strips.rows)
    for axes in panels[1:]:
        style.shade_rows(axes, len(strips.rows))
    return figure, panels


def _draw(
    axes: Axes, strips: _Strips, values: Floats, looks: Sequence[tuple[str, str]], limit: float, pattern: str
) -> tuple[style.Places, Floats]:
    """Draw marks, crosses and medians where ``values`` has a number; the strips with a good trial, and their medians.

    The words of a median are its case, ``pattern`` with the number, the interval, and the number of trials.
    """
    chosen = ~np.isnan(values)
    values, ok, strip = values[chosen], strips.ok[chosen], strips.strip[chosen]
    values_by_strip = stats.sort_by_group(strip[ok], values[ok], len(strips.rows) * len(strips.kinds))
    used = np.array([number for number, strip_values in enumerate(values_by_strip) if len(strip_values)], dtype=np.intp)
    medians = np.array([stats.median(values_by_strip[number]) for number in used])
    _ticks(axes, strips, used, medians, [style.INK] * len(used))
    places = np.flatnonzero(ok)[style.sample(int(ok.sum()))[0]]
    # The golden ratio spreads any number of marks evenly, and the same trial is always at the same place.
    spread = (pd.Series(strip[places]).groupby(strip[places]).cumcount().to_numpy() * 0.618034 + 0.5) % 1 - 0.5
    y = strips.centre(strip[places]) + spread * strips.half
    kind = strip[places] % len(looks)
    for look in dict.fromkeys(looks):
        alike = np.array([other == look for other in looks])[kind]
        if alike.any():
            style.add_marks(axes, values[places][alike], y[alike], look, count=len(places))
    lost = np.flatnonzero(~ok)[style.sample(int((~ok).sum()))[0]]
    style.add_crosses(axes, np.minimum(values[lost], limit), strips.centre(strip[lost]), values[lost], limit)
    words = []
    for number, median in zip(used.tolist(), medians, strict=True):
        low, high = stats.median_interval(values_by_strip[number])
        interval = "no interval" if np.isnan(low) else f"95 % interval {low:.1f} to {high:.1f}"
        row, kind_number = divmod(number, len(strips.kinds))
        case = ", ".join([strips.rows[row], *filter(None, strips.names[kind_number])])
        words.append(f"{case}, {pattern.format(f'{median:.1f}')} ({interval}, n = {len(values_by_strip[number])})")
    tell(axes, medians, strips.centre(used), words)
    return used, medians


def _mark_ceilings(
    axes: Axes, strips: _Strips, used: style.Places, ceilings: Sequence[list[float]], looks: Sequence[tuple[str, str]]
) -> None:
    count = [len(strip_values) for strip_values in ceilings]
    chosen = style.sample(sum(count))[0]
    x, strip = np.array([speed for strip_values in ceilings for speed in strip_values]), np.repeat(used, count)
    y, half = strips.centre(strip), 0.4 * strips.half
    colours = np.array([looks[int(kind)][0] for kind in strip % len(looks)])
    axes.vlines(
        x[chosen], (y - half)[chosen], (y + half)[chosen], colors=list(colours[chosen]), linewidth=0.7, zorder=2,
        rasterized=len(chosen) > style.MOST_VECTORS,
    )  # fmt: skip


def _ticks(axes: Axes, strips: _Strips, used: style.Places, x: npt.ArrayLike, colours: Sequence[str]) -> None:
    y = strips.centre(used)
    axes.vlines(x, y - 0.9 * strips.half, y + 0.9 * strips.half, colors=list(colours), linewidth=1.8, zorder=4)
