"""Several runs against the first of them: by case, by protocol, tool and direction, over all cases, and the link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.stats.distributions import two_sided_p
from lab.stats.effect_ratios import adjust_p_values
from lab.stats.encoding import Encoded, Trials, encode
from lab.stats.intervals import NO_SPREAD, Floats
from lab.stats.link_ceilings import SETTING
from lab.stats.two_runs import Shared, case_table, pooled_table, share_cases, versus
from lab.stats.two_way import column_means, two_way

LEAST_SHARE = 0.5  # of the cases that a block needs to count over all of them


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
