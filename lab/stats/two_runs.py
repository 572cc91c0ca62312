"""Two runs against each other, such as an old kernel and a new one: the same cases, in blocks that are not paired."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.design.factors import ABSENT, CHOOSERS, DEFAULT, owner_of
from lab.results.trial import RunJson
from lab.stats.distributions import two_sided_p
from lab.stats.effect_ratios import adjust_p_values
from lab.stats.encoding import Encoded, Trials, encode, grid
from lab.stats.factors import FACTORS, POOLED, Level
from lab.stats.intervals import NO_SPREAD, Floats, percent_change, t_interval
from lab.stats.link_ceilings import SETTING
from lab.stats.speed_matrix import Grid
from lab.stats.two_way import column_means, two_way

CASE = (*FACTORS, "size_bytes")
VERSUS = (
    "n_a", "n_b", "MB_per_s_a", "MB_per_s_b", "ratio", "change_pct", "low_pct", "high_pct",
    "p_value", "p_adjusted", "established", "ratio_low", "ratio_high", "standard_error", "degrees_of_freedom",
)  # fmt: skip
LEAST_SHARE = 0.5  # of the cases that a block needs to count over all of them


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


@dataclass(frozen=True)
class Versus:
    """One run over another: tables with the columns of :data:`lab.stats.two_runs.VERSUS`.

    ``cases`` and ``pooled`` are those of :func:`lab.stats.compare`; ``overall`` has one row, of all cases that have a
    good trial in both, or none; ``link`` has one a direction, of what iperf3 measured. ``n_cases`` are those of
    ``overall``, and ``alone`` the numbers of cases that only one run has.
    """

    cases: pd.DataFrame
    pooled: pd.DataFrame
    overall: pd.DataFrame
    link: pd.DataFrame
    n_cases: int
    alone: tuple[int, int]


TABLES = tuple(field.name for field in fields(Versus) if field.type == "pd.DataFrame")


def compare_all(base: Trials, others: Sequence[Trials]) -> list[Versus]:
    """Every other run over ``base``; p-values are adjusted by Holm over all rows of a table in all of these runs."""
    first = encode(base)
    compared = [_compare(first, encode(other)) for other in others]
    for name in TABLES:
        tables = [getattr(one, name) for one in compared]
        adjusted, is_established = adjust_p_values(np.concatenate([table["p_value"] for table in tables]))
        ends = np.cumsum([len(table) for table in tables])[:-1]
        parts = zip(tables, np.split(adjusted, ends), np.split(is_established, ends), strict=True)
        changed = [table.assign(p_adjusted=p, established=is_sure) for table, p, is_sure in parts]
        compared = [replace(one, **{name: table}) for one, table in zip(compared, changed, strict=True)]
    return compared


def slower_p(tables: Sequence[pd.DataFrame], percent: float) -> list[Floats]:
    """Of each row of each table the p-value of being slower by no more than so many percent, adjusted by Holm over all
    of them: small where a row is slower by more. 1 where it is not slower by as much; NaN where that cannot be told.
    """
    every = pd.concat(tables)
    beyond = np.log(every["ratio"].to_numpy(float)) - np.log1p(-percent / 100)
    error = every["standard_error"].to_numpy(float)
    known = np.where(error < NO_SPREAD, np.nan, error)
    p = two_sided_p(every["degrees_of_freedom"].to_numpy(float), beyond / known)
    adjusted, _ = adjust_p_values(np.where(beyond < 0, p, np.where(np.isfinite(p), 1.0, np.nan)))
    return np.split(adjusted, np.cumsum([len(table) for table in tables])[:-1])


def _compare(a: Encoded, b: Encoded) -> Versus:
    shared = share_cases(a, b)
    overall, count = _overall(shared)
    return Versus(case_table(shared), pooled_table(shared), overall, _link(a, b), count, shared.alone)


def _overall(shared: Shared) -> tuple[pd.DataFrame, int]:
    """One row of the cases that count in both runs, and how many these are.

    Each block is the mean of its cases; of one that lacks some, what least squares say that it would be with all.
    """
    pairs = [pair for pair in zip(*shared.logs, strict=True) if all(np.isfinite(logs).any() for logs in pair)]
    sides = [np.concatenate(logs) for logs in zip(*pairs, strict=True)]
    if sides:
        joined = np.logical_and.reduce([np.isfinite(two_way(side)[0]) for side in sides])
        sides = [side[joined] for side in sides]
    if not sides or not len(sides[0]):
        return versus([], (), [], []).reset_index(drop=True), 0
    means = [_block_means(side) for side in sides]
    return versus([("all",)], ("cases",), [means[0]], [means[1]]), len(sides[0])


def _block_means(logs: Floats) -> Floats:
    """The means of blocks, 1 × blocks; NaN of one that lacks more than half of the cases."""
    enough: npt.NDArray[np.bool_] = np.isfinite(logs).mean(axis=0) >= LEAST_SHARE
    return np.where(enough, column_means(logs), np.nan)[None, :]


def _link(a: Encoded, b: Encoded) -> pd.DataFrame:
    """One row a direction, over the networks that iperf3 measured in both runs."""
    one, other = _ceilings(a), _ceilings(b)
    common = [setting for setting in one if setting in other]
    directions = list(dict.fromkeys(setting[0] for setting in common))
    sides = [
        [np.concatenate([run[setting] for setting in common if setting[0] == way]) for way in directions]
        for run in (one, other)
    ]
    means = [[_block_means(logs) for logs in side] for side in sides]
    return versus([(way,) for way in directions], SETTING[:1], *means)


def _ceilings(run: Encoded) -> dict[tuple[Any, ...], Floats]:
    """Log MB/s of the link (1 × blocks of the run) by direction, MTU and TCP buffer: of two shots the higher."""
    rows = run.frame[run.ceiling & run.good]
    blocks = {block: place for place, block in enumerate(dict.fromkeys(rows["block"].tolist()))}
    ceilings: dict[tuple[Any, ...], Floats] = {}
    keys = zip(*(rows[name].tolist() for name in SETTING), strict=True)
    for key, block, speed in zip(keys, rows["block"].tolist(), rows["MB_per_s"].tolist(), strict=True):
        logs = ceilings.setdefault(key, np.full((1, len(blocks)), np.nan))
        logs[0, blocks[block]] = np.fmax(logs[0, blocks[block]], np.log(speed))
    return ceilings
