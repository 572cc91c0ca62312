"""Two runs against each other, such as an old kernel and a new one: the same cases, in blocks that are not paired."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lab.design.factors import ABSENT, CHOOSERS, DEFAULT, owner_of
from lab.results.trial import RunJson
from lab.stats.effect_ratios import adjust_p_values
from lab.stats.encoding import Encoded, Trials, encode, grid
from lab.stats.factors import FACTORS, POOLED, Level
from lab.stats.intervals import Floats, percent_change, t_interval
from lab.stats.speed_matrix import Grid

CASE = (*FACTORS, "size_bytes")
VERSUS = (
    "n_a", "n_b", "MB_per_s_a", "MB_per_s_b", "ratio", "change_pct", "low_pct", "high_pct",
    "p_value", "p_adjusted", "established", "ratio_low", "ratio_high", "standard_error", "degrees_of_freedom",
)  # fmt: skip


@dataclass(frozen=True)
class Shared:
    """The cases that two runs both tried, by their levels; of each its log speeds (1 × blocks) in both runs.

    ``alone`` are the numbers of cases that only the first has, and only the second.
    """

    factors: tuple[str, ...]
    cases: list[tuple[Level, ...]]
    logs: tuple[list[Floats], list[Floats]]
    alone: tuple[int, int]


def compare(a: Trials, b: Trials) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run ``b`` over run ``a``: one row a case that both tried, and one row a protocol, tool and direction.

    Columns: CASE and options of mounts and tools, or POOLED, then VERSUS: blocks of each run, geometric means in MB/s,
    their ratio, the change in percent with Welch's t interval on the logarithms of the blocks, and the p-value, plain
    and adjusted by Holm in each table; then the interval as ratios, and the standard error of the log ratio with its
    degrees of freedom. A pooled row takes the mean of its cases in each block that has them all. Source of the degrees
    of freedom: Welch 1947, Satterthwaite 1946.
    """
    shared = share_cases(a, b)
    return case_table(shared), pooled_table(shared)


def share_cases(a: Trials, b: Trials) -> Shared:
    """The cases that both runs tried, in reading order."""
    one, other = common_grids([a, b])
    places = [by_case(run) for run in (one, other)]
    common = [case for case in places[0] if case in places[1]]
    first, second = (
        [speeds.log_speed[[place[case]]] for case in common] for speeds, place in zip((one, other), places, strict=True)
    )
    alone = len(places[0]) - len(common), len(places[1]) - len(common)
    return Shared(one.factors, common, (first, second), alone)


def case_table(shared: Shared) -> pd.DataFrame:
    """One row a case."""
    return versus(shared.cases, shared.factors, *shared.logs)


def pooled_table(shared: Shared) -> pd.DataFrame:
    """One row a protocol, tool and direction."""
    groups: dict[tuple[Level, ...], list[int]] = {}
    for number, case in enumerate(shared.cases):
        groups.setdefault(case[: len(POOLED)], []).append(number)
    pooled = [
        [np.concatenate([run[number] for number in numbers]) for numbers in groups.values()] for run in shared.logs
    ]
    return versus(list(groups), POOLED, *pooled)


def differing_facts(a: RunJson, b: RunJson) -> list[tuple[str, str, str]]:
    """What two run.json say differently about code and hosts: name (``server kernel``), and the value in each."""
    one, other = _facts(a), _facts(b)
    names = dict.fromkeys([*one, *other])
    return [(name, one.get(name, "–"), other.get(name, "–")) for name in names if one.get(name) != other.get(name)]


def differing_levels(a: Trials, b: Trials) -> list[tuple[str, list[Level], list[Level]]]:
    """The factors that do not have the same levels in both runs, with the levels in each."""
    one, other = (run.levels for run in common_grids([a, b]))
    return [(name, one[name], other[name]) for name in one if one[name] != other[name]]


def common_grids(runs: Sequence[Trials], factors: Sequence[str] = CASE) -> list[Grid]:
    """All runs by the same factors, and options: an option that one of them never named had its default there."""
    encoded = [encode(run) for run in runs]
    options = dict.fromkeys(name for run in encoded for name in run.frame.columns if owner_of(name))
    return [grid(_with_options(run, options), (*factors, *options)) for run in encoded]


def _with_options(run: Encoded, options: Iterable[str]) -> Encoded:
    lacking = [name for name in options if name not in run.frame]
    levels = {name: np.where(_has_option(run.frame, name), DEFAULT, ABSENT) for name in lacking}
    return encode(run.frame.assign(**levels)) if lacking else run


def _has_option(trials: pd.DataFrame, name: str) -> pd.Series[bool]:
    owner = owner_of(name)
    return (trials[[*CHOOSERS]] == owner).any(axis="columns")


def _facts(run: RunJson) -> dict[str, str]:
    plain = {name: run.get(name) for name in ("title", "instance", "code_version", "started_at")}
    hosts = {f"{side} {name}": fact for side, facts in run.get("hosts", {}).items() for name, fact in facts.items()}
    return {name: str(value) for name, value in (plain | hosts).items() if value is not None}


def by_case(run: Grid) -> dict[tuple[Level, ...], int]:
    """The row of each case, by its levels, in reading order."""
    columns = [[[*run.levels[factor], ABSENT][code] for code in run.code(factor)] for factor in run.factors]
    return {case: row for row, case in enumerate(zip(*columns, strict=True))}


def versus(keys: list[tuple[Level, ...]], names: tuple[str, ...], a: list[Floats], b: list[Floats]) -> pd.DataFrame:
    """VERSUS of groups of cases: for each the log speeds (cases × blocks) in both runs."""
    sides = [np.array([_mean_and_error(speeds) for speeds in run]).reshape(-1, 3).T for run in (a, b)]
    (n_a, mean_a, error_a), (n_b, mean_b, error_b) = sides
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees_of_freedom = (error_a + error_b) ** 2 / (error_a**2 / (n_a - 1) + error_b**2 / (n_b - 1))
    means = t_interval(n_a, mean_b - mean_a, np.sqrt(error_a + error_b), degrees_of_freedom)
    ends = np.stack([means.mean, means.mean - means.half, means.mean + means.half])
    adjusted, is_established = adjust_p_values(means.p)
    columns = [n_a.astype(int), n_b.astype(int), np.exp(mean_a), np.exp(mean_b), np.exp(means.mean)]
    columns += [*percent_change(1.0, np.exp(ends)), means.p, adjusted, is_established]
    columns += [*np.exp(ends[1:]), means.error, means.freedom]
    levels = pd.DataFrame(keys, columns=list(names))
    return levels.assign(**dict(zip(VERSUS, columns, strict=True)))


def _mean_and_error(speeds: Floats) -> tuple[float, float, float]:
    """Number of blocks that have all cases, their mean log speed, and the squared standard error of that."""
    blocks = speeds.mean(axis=0)
    blocks = blocks[np.isfinite(blocks)]
    n = len(blocks)
    return n, float(blocks.mean()) if n else np.nan, float(blocks.var(ddof=1)) / n if n > 1 else np.nan
