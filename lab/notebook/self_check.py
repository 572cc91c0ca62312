"""`is-it-true.ipynb`: the lab's statistics on random runs with a known truth.

A made-up run has four protocols and blocks that differ from each other. Each protocol has two levels of a factor that
changes speeds by a known share. Its effects are computed like the effects of a real run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure

from lab import stats
from lab.report.figures.style import INK, PALETTE, add_legend, begin_over, mark, name_axes
from lab.stats.distributions import NORMAL_QUANTILE
from lab.stats.intervals import t_means
from lab.stats.speed_matrix import Grid

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
PROTOCOLS = ["afp", "nfs", "smb", "ssh"]
BLOCKS, NOISE, BLOCK_NOISE = 6, 0.05, 0.10  # the noise of a trial and of a block as shares of the speed
SKEW = 0.5  # standard deviation of the logarithm of the lognormal noise
MOST_DRAWN = 60  # intervals of a figure


def _lognormal(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    mean, scale = math.exp(SKEW**2 / 2), math.sqrt(math.expm1(SKEW**2) * math.exp(SKEW**2))
    return (np.exp(SKEW * chance.standard_normal(shape)) - mean) / scale


# Kinds of noise: mean 0, standard deviation 1
NOISES: Mapping[str, Draw] = {
    "normal": lambda chance, shape: chance.standard_normal(shape),
    "heavy tails (Student's t, 5 degrees)": lambda chance, shape: chance.standard_t(5, shape) / math.sqrt(5 / 3),
    "skewed (lognormal)": _lognormal,
    "difference of two skewed": lambda chance, shape: (_lognormal(chance, shape) - _lognormal(chance, shape)) / 2**0.5,
}


def made_up_run(chance: np.random.Generator, change_pct: float, blocks: int = BLOCKS, noise: float = NOISE) -> Grid:
    """Random speeds of a run in which level B is ``change_pct`` percent faster than A."""
    codes = np.array([[protocol, level] for protocol in range(len(PROTOCOLS)) for level in (0, 1)])
    shape = (len(codes), blocks)
    log_speed = np.log(100) + noise * chance.standard_normal(shape) + BLOCK_NOISE * chance.standard_normal(blocks)
    log_speed += codes[:, 1:] * np.log1p(change_pct / 100)
    every: npt.NDArray[np.bool_] = np.ones(shape, dtype=bool)
    placed = np.column_stack([codes[:, 0], np.zeros((len(codes), 2), dtype=int), codes[:, 1]])
    levels: dict[str, list[stats.Level]] = {
        "protocol": list(PROTOCOLS), "tool": ["cp"], "direction": ["write"], "placebo": ["A", "B"],
    }  # fmt: skip
    return Grid(tuple(levels), levels, placed, np.arange(1, blocks + 1), log_speed, every)


def simulate(change_pct: float, runs: int, seed: int = 1, blocks: int = BLOCKS) -> pd.DataFrame:
    """The lab's effects of made-up runs, a row for each protocol and run; ``held``: the interval holds the truth."""
    chance = np.random.default_rng(seed)
    tables = []
    for run in range(1, runs + 1):
        table = stats.effects(made_up_run(chance, change_pct, blocks), ["placebo"])
        tables.append(table[table["protocol"] != stats.EVERY].assign(run=run))
    every = pd.concat(tables, ignore_index=True)
    return every.assign(held=every["low_pct"].le(change_pct) & every["high_pct"].ge(change_pct))


def report_placebo(effects: pd.DataFrame) -> str:
    """The result of an A/A comparison in words: both levels are the same, so every effect is an error."""
    runs = effects.groupby("run")["established"].any()
    return (
        f"{len(runs)} made-up runs of {BLOCKS} blocks of a setting against itself; "
        f"noise of a trial: {100 * NOISE:.0f} %.\n"
        f"95 % intervals without 0: {proportion(~effects['held'])} (5 % is right).\n"
        f"Runs in which anything was called established: {proportion(runs)} (at most 5 % is right)."
    )


def injected(changes_pct: Sequence[float], runs: int, seed: int = 2) -> pd.DataFrame:
    """What the lab finds of known effects: the mean, intervals that hold it, and how often it is established."""
    rows = []
    for number, change_pct in enumerate(changes_pct):
        effects = simulate(change_pct, runs, seed + number)
        mean = f"{effects['change_pct'].mean():+.2f} %"
        rows.append((f"{change_pct:+g} %", mean, *(proportion(effects[name]) for name in ("held", "established"))))
    headings = ["injected", "found, mean", "95 % intervals that hold it", "called established"]
    return pd.DataFrame(rows, columns=headings).set_index("injected")


def coverage(blocks: Sequence[int], intervals: int = 4000, seed: int = 3) -> pd.DataFrame:
    """How many of Student's 95 % intervals hold the truth, in percent, by number of blocks and kind of noise."""
    chance = np.random.default_rng(seed)
    table = {}
    for count in blocks:
        kinds = [t_means(draw(chance, (intervals, count))) for draw in NOISES.values()]
        table[f"{count} blocks"] = [100 * float((np.abs(means.mean) <= means.half).mean()) for means in kinds]
    return pd.DataFrame(table, index=pd.Index(NOISES, name=f"of {intervals} intervals, %")).round(1)


def proportion(outcomes: pd.Series[bool]) -> str:
    """The number of true outcomes, their total, and the percentage with its 95 % interval.

    Source: Wilson 1927, J. Am. Stat. Assoc. 22, 209-212.
    """
    n, share, z = len(outcomes), float(outcomes.mean()), NORMAL_QUANTILE
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return f"{int(outcomes.sum())} of {n}: {100 * share:.1f} %, {100 * low:.1f} to {100 * high:.1f}"


def draw_intervals(effects: pd.DataFrame, change_pct: float) -> Figure:
    """The first intervals of a simulation and the truth; intervals that miss it have another colour."""
    shown = effects.head(MOST_DRAWN)
    figure = begin_over([f"The first {len(shown)} of {len(effects)} intervals."], 3.4)
    axes = figure.subplots()
    for is_held, colour in ((True, INK), (False, PALETTE[1])):
        some = shown[shown["held"].to_numpy() == is_held]
        axes.vlines(some.index, some["low_pct"], some["high_pct"], color=colour, linewidth=1.2)
        axes.plot(some.index, some["change_pct"], "o", color=colour, markersize=3)
    axes.axhline(change_pct, color=PALETTE[0], linewidth=1)
    axes.set_xticks([])
    name_axes(axes, "", "comparisons, in the order in which they were drawn", "change, %")
    kinds = [mark("holds the truth", INK, "o"), mark("misses it", PALETTE[1], "o"), mark("the truth", PALETTE[0], "_")]
    add_legend(figure, "95 % intervals of made-up runs", kinds)
    return figure
