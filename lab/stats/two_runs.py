"""Runs over a first one, such as a new kernel over an old one: the same cases, in blocks that are not paired."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.base.groups import grouped
from lab.design.factors import ABSENT, CHOOSERS, DEFAULT, owner_of
from lab.results.json_object import RunJson
from lab.stats.distributions import two_sided_p
from lab.stats.effect_ratios import adjust_p_values
from lab.stats.encoding import Encoded, Trials, encode, grid
from lab.stats.factors import FACTORS, POOLED, Level
from lab.stats.intervals import NO_SPREAD, Floats, log_percent, t_interval
from lab.stats.link_ceilings import SETTING
from lab.stats.speed_matrix import Grid
from lab.stats.two_way import column_means, two_way

CASE = (*FACTORS, "size_bytes")
VERSUS = (
    "n_a", "n_b", "MB_per_s_a", "MB_per_s_b", "ratio", "change_pct", "low_pct", "high_pct",
    "p_value", "p_adjusted", "established", "ratio_low", "ratio_high", "standard_error", "degrees_of_freedom",
)  # fmt: skip
LEAST_SHARE = 0.5  # of the cases that a block needs to count over all of them
Sides = Sequence[list[Floats]]  # of each run the log speeds of some cases (each 1 × blocks)


@dataclass(frozen=True)
class Versus:
    """One run over another: tables with the columns VERSUS after those that name the row.

    ``cases`` has a row for each case that both tried, by CASE and options of mounts and tools; ``pooled`` one for each
    protocol, tool and direction; ``overall`` one for all ``n_cases`` cases with a good trial in both, or none; ``link``
    one for each direction of iperf3. ``alone`` are the numbers of cases that only one run has.
    """

    cases: pd.DataFrame
    pooled: pd.DataFrame
    overall: pd.DataFrame
    link: pd.DataFrame
    n_cases: int
    alone: tuple[int, int]


TABLES = tuple(field.name for field in fields(Versus) if field.type is pd.DataFrame)


def compare_all(base: Trials, others: Sequence[Trials]) -> list[Versus]:
    """Every other run over ``base``.

    VERSUS: blocks of each run, geometric means in MB/s, their ratio; the change in percent with Welch's t interval on
    the logarithms of the blocks; the p-value, plain and adjusted by Holm over all rows of a table in all of these runs;
    the interval as ratios; and the standard error of the log ratio with its degrees of freedom. A pooled row has the
    mean of its cases in each block that has them all. Source: Welch 1947, Satterthwaite 1946.
    """
    first = encode(base)
    compared = [_compare(first, encode(other)) for other in others]
    for name in TABLES:
        tables = [getattr(versus, name) for versus in compared]
        adjusted, is_established = adjust_p_values(np.concatenate([table["p_value"] for table in tables]))
        ends = np.cumsum([len(table) for table in tables])[:-1]
        parts = zip(tables, np.split(adjusted, ends), np.split(is_established, ends), strict=True)
        changed = [table.assign(p_adjusted=p, established=is_sure) for table, p, is_sure in parts]
        compared = [replace(versus, **{name: table}) for versus, table in zip(compared, changed, strict=True)]
    return compared


def slower_p(tables: Sequence[pd.DataFrame], percent: float) -> list[Floats]:
    """For each row of each table the p-value of being slower by no more than so many percent, adjusted by Holm over all
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
    runs = common_grids([a, b])
    rows = [by_case(run) for run in runs]
    common = [case for case in rows[0] if case in rows[1]]
    sides = [[run.log_speed[[row[case]]] for case in common] for run, row in zip(runs, rows, strict=True)]
    groups = grouped((case[: len(POOLED)], number) for number, case in enumerate(common))
    pooled = [[np.concatenate([logs[number] for number in numbers]) for numbers in groups.values()] for logs in sides]
    tables = versus(common, runs[0].factors, sides), versus(list(groups), POOLED, pooled)
    overall, n_cases = _overall(sides)
    return Versus(*tables, overall, _link(a, b), n_cases, (len(rows[0]) - len(common), len(rows[1]) - len(common)))


def differing_facts(a: RunJson, b: RunJson) -> list[tuple[str, str, str]]:
    """The facts about code and hosts that differ in two run.json: name (``server kernel``), and the value in each."""
    one, other = _facts(a), _facts(b)
    names = dict.fromkeys([*one, *other])
    return [(name, one.get(name, "–"), other.get(name, "–")) for name in names if one.get(name) != other.get(name)]


def _facts(run: RunJson) -> dict[str, str]:
    plain = {name: run.get(name) for name in ("title", "instance", "code_version", "started_at")}
    hosts = {f"{side} {name}": fact for side, facts in run.get("hosts", {}).items() for name, fact in facts.items()}
    return {name: str(value) for name, value in (plain | hosts).items() if value is not None}


def differing_levels(a: Trials, b: Trials) -> list[tuple[str, list[Level], list[Level]]]:
    """The factors that do not have the same levels in both runs, with the levels in each."""
    one, other = (run.levels for run in common_grids([a, b]))
    return [(name, one[name], other[name]) for name in one if one[name] != other[name]]


def common_grids(runs: Sequence[Trials], factors: Sequence[str] = CASE) -> list[Grid]:
    """The grids of all runs by the same factors and options. A run that never named an option had its default."""
    encoded = [encode(run) for run in runs]
    options = dict.fromkeys(name for run in encoded for name in run.frame.columns if owner_of(name))
    grids = []
    for run in encoded:
        lacking = [name for name in options if name not in run.frame]
        has = {name: (run.frame[[*CHOOSERS]] == owner_of(name)).any(axis="columns") for name in lacking}
        levels = {name: np.where(is_there, DEFAULT, ABSENT) for name, is_there in has.items()}
        grids.append(grid(run.frame.assign(**levels) if lacking else run, (*factors, *options)))
    return grids


def by_case(run: Grid) -> dict[tuple[Level, ...], int]:
    """The row of each case, by its levels, in reading order."""
    return {case: row for row, case in enumerate(run.cases())}


def versus(keys: Sequence[tuple[Level, ...]], names: Sequence[str], sides: Sides) -> pd.DataFrame:
    """VERSUS of groups of cases, named by ``keys``: each group has its log speeds (cases × blocks) in both runs."""
    moments = [np.array([_mean_and_error(speeds) for speeds in run]).reshape(-1, 3).T for run in sides]
    (n_a, mean_a, error_a), (n_b, mean_b, error_b) = moments
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees_of_freedom = (error_a + error_b) ** 2 / (error_a**2 / (n_a - 1) + error_b**2 / (n_b - 1))
    means = t_interval(n_a, mean_b - mean_a, np.sqrt(error_a + error_b), degrees_of_freedom)
    adjusted, is_established = adjust_p_values(means.p)
    columns = [n_a.astype(int), n_b.astype(int), np.exp(mean_a), np.exp(mean_b), np.exp(means.mean)]
    columns += [*log_percent(means.ends), means.p, adjusted, is_established]
    columns += [*np.exp(means.ends[1:]), means.error, means.freedom]
    return pd.DataFrame(keys, columns=list(names)).assign(**dict(zip(VERSUS, columns, strict=True)))


def _mean_and_error(speeds: Floats) -> tuple[float, float, float]:
    """Number of blocks that have all cases, their mean log speed, and the squared standard error of that mean."""
    blocks = speeds.mean(axis=0)
    blocks = blocks[np.isfinite(blocks)]
    n = len(blocks)
    return n, float(blocks.mean()) if n else np.nan, float(blocks.var(ddof=1)) / n if n > 1 else np.nan


def _overall(sides: Sides) -> tuple[pd.DataFrame, int]:
    """One row over the cases that count in both runs, by means of blocks (least squares for holes); their number."""
    pairs = [pair for pair in zip(*sides, strict=True) if all(np.isfinite(logs).any() for logs in pair)]
    whole = [np.concatenate(logs) for logs in zip(*pairs, strict=True)]
    if whole:
        joined = np.logical_and.reduce([np.isfinite(two_way(side)[0]) for side in whole])
        whole = [side[joined] for side in whole]
    if not whole or not len(whole[0]):
        return versus([], (), ([], [])).reset_index(drop=True), 0
    return versus([("all",)], ("cases",), [[_block_means(side)] for side in whole]), len(whole[0])


def _block_means(logs: Floats) -> Floats:
    """The means of blocks (1 × blocks); NaN where a block lacks more than half of the cases."""
    enough: npt.NDArray[np.bool_] = np.isfinite(logs).mean(axis=0) >= LEAST_SHARE
    return np.where(enough, column_means(logs), np.nan)[None, :]


def _link(a: Encoded, b: Encoded) -> pd.DataFrame:
    """One row a direction, over the networks that iperf3 measured in both runs."""
    runs = _ceilings(a), _ceilings(b)
    common = [setting for setting in runs[0] if setting in runs[1]]
    ways = list(dict.fromkeys(setting[0] for setting in common))
    sides = [
        [_block_means(np.concatenate([run[setting] for setting in common if setting[0] == way])) for way in ways]
        for run in runs
    ]
    return versus([(way,) for way in ways], SETTING[:1], sides)


def _ceilings(run: Encoded) -> dict[tuple[Level, ...], Floats]:
    """Log MB/s of the link (1 × blocks of the run) by SETTING; the higher of two shots."""
    rows = run.frame[run.ceiling & run.good]
    blocks = {block: place for place, block in enumerate(dict.fromkeys(rows["block"].tolist()))}
    ceilings: dict[tuple[Level, ...], Floats] = {}
    keys = zip(*(rows[name].tolist() for name in SETTING), strict=True)
    for key, block, speed in zip(keys, rows["block"].tolist(), rows["MB_per_s"].tolist(), strict=True):
        logs = ceilings.setdefault(key, np.full((1, len(blocks)), np.nan))
        logs[0, blocks[block]] = np.fmax(logs[0, blocks[block]], np.log(speed))
    return ceilings
