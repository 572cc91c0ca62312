"""One sweep on several pairs of hosts: each pair's effects and speeds, and both over the pairs, which are a sample.

The first stage is that of one run: a number a block, and Student's t over blocks. The second one is
:func:`lab.stats.over_pairs.pool`, with :func:`lab.stats.over_pairs.moderate_errors` where blocks are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.stats.contrasts import Blockwise
from lab.stats.distributions import student_t
from lab.stats.effect_ratios import SIGNIFICANCE, adjust_by_gate, block_effects, comparisons
from lab.stats.encoding import Trials
from lab.stats.factors import EVERY, FACTORS, POOLED, Level
from lab.stats.intervals import NO_SPREAD, Floats, Means, percent_change, t_interval, t_means
from lab.stats.moderation import ENOUGH_BLOCKS, LEAST_ROWS, fit_prior, shrink
from lab.stats.speed_matrix import Grid, take_cases
from lab.stats.two_runs import by_case, common_grids

KEY = ("factor", "baseline", "level", *POOLED)
EFFECT = (
    "n_pairs", "change_pct", "low_pct", "high_pct", "p_value", "p_adjusted", "established", "tau_pct", "i2",
    "predicted_low_pct", "predicted_high_pct",
)  # fmt: skip
SPEED = (
    "n_pairs", "MB_per_s", "low_MB_per_s", "high_MB_per_s", "tau_pct", "i2", "predicted_low_MB_per_s",
    "predicted_high_MB_per_s",
)  # fmt: skip
Key = tuple[Level, ...]
Rows = dict[Key, Floats]  # what each block of a run has of each row, as logarithms
LEAST_PAIRS = 3  # for an interval: two differ by one number, which says next to nothing of how far a third would lie


@dataclass(frozen=True)
class OverPairs:
    """What :func:`over_pairs` makes: ``effects`` and ``speeds`` over pairs, a row each, and the same of each pair.

    Columns of ``effects`` are KEY and EFFECT, the overall row of a comparison first; of ``speeds`` the factors and
    SPEED. ``effects_of_pairs`` and ``speeds_of_pairs`` have ``row`` (the place there), ``pair`` (its place among the
    pairs) and ``n_blocks``, then ``change_pct``, or ``MB_per_s``, with the ends of its 95 % interval, and
    ``standard_error`` of the logarithm; only pairs that have any number of the row. ``effects_as_logs`` is the second
    stage itself.
    """

    effects: pd.DataFrame
    effects_of_pairs: pd.DataFrame
    speeds: pd.DataFrame
    speeds_of_pairs: pd.DataFrame
    effects_as_logs: Pooled


def over_pairs(pairs: Sequence[Sequence[Trials]]) -> OverPairs:
    """The effects and speeds of pairs of hosts, each with one run or more of a sweep, and both over the pairs.

    Blocks of several runs of one pair are blocks of that pair. An overall row is over the cases that all pairs with
    this comparison have: an effect over other cases would be another effect. P-values are adjusted as in
    :func:`lab.stats.effects`. The payload's size is no factor here: where it follows the link, it differs by pair.
    """
    grids = common_grids([run for runs in pairs for run in runs], FACTORS)
    of_pair = [place for place, runs in enumerate(pairs) for _ in runs]
    keys, rows = _effect_rows(grids)
    first, second = _two_stages(keys, rows, of_pair, len(pairs))
    cases, speeds = _speed_rows(grids)
    first_speeds, second_speeds = _two_stages(cases, speeds, of_pair, len(pairs))
    return OverPairs(
        _effect_table(keys, second), _of_pairs(first, len(pairs), EFFECT[1:4], _percent),
        _speed_table(grids[0].factors, cases, second_speeds), _of_pairs(first_speeds, len(pairs), SPEED[1:4], _speed),
        second,
    )  # fmt: skip


def _effect_rows(grids: Sequence[Grid]) -> tuple[list[Key], list[Rows]]:
    """The keys of all comparisons, those of one beside each other, its overall row first; and the rows of each run."""
    rows = [_by_key(block_effects(grid)) for grid in grids]
    having: dict[tuple[int, ...], list[Key]] = {}
    for key in dict.fromkeys(key for of_run in rows for key in of_run if _is_overall(key)):
        runs = tuple(place for place, of_run in enumerate(rows) if key in of_run and np.isfinite(of_run[key]).any())
        having.setdefault(runs, []).append(key)
    for runs, keys in having.items():
        for place, common in zip(runs, _of_common_cases([grids[place] for place in runs]), strict=True):
            again = _by_key(block_effects(common))
            rows[place] |= {key: again.get(key, np.full(len(common.blocks), np.nan)) for key in keys}
    with_values = {key[:3] for of_run in rows for key, values in of_run.items() if np.isfinite(values).any()}
    every = dict.fromkeys(key for of_run in rows for key in of_run if key[:3] in with_values)
    order = {comparison: place for place, comparison in enumerate(dict.fromkeys(key[:3] for key in every))}
    return sorted(every, key=lambda key: (order[key[:3]], not _is_overall(key))), rows


def _by_key(effects: Iterator[tuple[dict[str, Level], Blockwise]]) -> Rows:
    return {tuple((named | row.at)[name] for name in KEY): row.log_ratios[0] for named, row in effects}


def _is_overall(key: Key) -> bool:
    return all(level == EVERY for level in key[3:])


def _of_common_cases(grids: Sequence[Grid]) -> list[Grid]:
    """The grids, less the cases that any of them has no good trial of; as they are where all have the same."""
    if not grids:
        return []
    measured = [
        {case: row for case, row in by_case(grid).items() if np.isfinite(grid.log_speed[row]).any()} for grid in grids
    ]
    common = [case for case in measured[0] if all(case in of_run for of_run in measured)]
    return [
        grid if len(common) == len(of_run) == len(grid.codes) else take_cases(grid, [of_run[case] for case in common])
        for grid, of_run in zip(grids, measured, strict=True)
    ]


def _speed_rows(grids: Sequence[Grid]) -> tuple[list[Key], list[Rows]]:
    """All cases that any run tried, and the log speed of each block of each run."""
    rows = [{case: grid.log_speed[row] for case, row in by_case(grid).items()} for grid in grids]
    return list(dict.fromkeys(case for of_run in rows for case in of_run)), rows


def _two_stages(keys: Sequence[Key], rows: Sequence[Rows], of_pair: Sequence[int], pairs: int) -> tuple[Means, Pooled]:
    """Each key of each pair (keys × pairs, one below the other), by Student's t over its blocks; and over the pairs."""
    lengths = [max((len(values) for values in of_run.values()), default=0) for of_run in rows]
    most = max(sum(np.array(lengths)[np.array(of_pair) == pair].tolist()) for pair in range(pairs))
    blocks, used = np.full((len(keys), pairs, max(1, most)), np.nan), [0] * pairs
    for length, pair, of_run in zip(lengths, of_pair, rows, strict=True):
        start, used[pair] = used[pair], used[pair] + length
        for place, key in enumerate(keys):
            if key in of_run:
                blocks[place, pair, start : used[pair]] = of_run[key]
    first = t_means(blocks.reshape(-1, blocks.shape[-1]))
    errors = moderate_errors(first.error.reshape(-1, pairs), first.n.reshape(-1, pairs))
    return first, pool(first.mean.reshape(-1, pairs), errors)


def _effect_table(keys: Sequence[Key], second: Pooled) -> pd.DataFrame:
    table = pd.DataFrame(list(keys), columns=list(KEY))
    comparison = comparisons(table)[0] if len(table) else np.empty(0, np.intp)
    adjusted = adjust_by_gate(second.means.p, comparison)
    middle, half = second.means.mean, second.means.half
    columns: list[npt.NDArray[Any]] = [second.means.n, *map(_percent, (middle, middle - half, middle + half))]
    columns += [second.means.p, adjusted, adjusted < SIGNIFICANCE, _percent(second.tau), second.i2]
    columns += [_percent(middle - second.predicted), _percent(middle + second.predicted)]
    return table.assign(**dict(zip(EFFECT, columns, strict=True)))


def _speed_table(factors: Sequence[str], cases: Sequence[Key], second: Pooled) -> pd.DataFrame:
    middle, half, further = second.means.mean, second.means.half, second.predicted
    columns = [second.means.n, _speed(middle), _speed(middle - half), _speed(middle + half), _percent(second.tau)]
    columns += [second.i2, _speed(middle - further), _speed(middle + further)]
    return pd.DataFrame(list(cases), columns=list(factors)).assign(**dict(zip(SPEED, columns, strict=True)))


def _of_pairs(first: Means, pairs: int, names: Sequence[str], shown: Callable[[Floats], Floats]) -> pd.DataFrame:
    """The first stage as a table, a row for each row and pair that has any block of it."""
    at = np.flatnonzero(first.n > 0)
    values = [first.mean, first.mean - first.half, first.mean + first.half]
    scaled = {column: shown(value[at]) for column, value in zip(names, values, strict=True)}
    places: dict[str, npt.NDArray[np.intp]] = {"row": at // pairs, "pair": at % pairs}
    return pd.DataFrame({**places, "n_blocks": first.n[at], **scaled, "standard_error": first.error[at]})


def _speed(logs: Floats) -> Floats:
    """Logarithms as numbers: infinite where the end of an interval is beyond all of them."""
    with np.errstate(over="ignore"):
        speeds: Floats = np.exp(logs)
    return speeds


def _percent(logs: Floats) -> Floats:
    """Logarithms of ratios as changes in percent."""
    changes: Floats = percent_change(1.0, _speed(logs))
    return changes


@dataclass(frozen=True)
class Pooled:
    """Effects over pairs, one a row, as logarithms.

    ``means`` has the number of pairs that count, their weighted mean, its standard error, degrees of freedom, half
    width and p-value (of 0); no interval below LEAST_PAIRS. ``tau`` is the standard deviation between pairs, ``q``
    Cochran's, ``i2`` the share of q that is more than chance inside pairs makes of it (0 to 1; NaN of one pair), and
    ``predicted`` the half width of the interval in which a further pair would lie.
    """

    means: Means
    tau: Floats
    q: Floats
    i2: Floats
    predicted: Floats


def pool(effects: Floats, errors: Floats) -> Pooled:
    """The effects of each row (rows × pairs, with standard errors; NaN where a pair has none) over its pairs.

    The variance between pairs is that of DerSimonian and Laird (Meta-analysis in clinical trials, Control. Clin. Trials
    7 (1986), 177-188). The interval is that of Hartung and Knapp (A refined method for the meta-analysis of controlled
    clinical trials with binary outcome, Stat. Med. 20 (2001), 3875-3889) and of Sidik and Jonkman (A simple confidence
    interval for meta-analysis, Stat. Med. 21 (2002), 3153-3159): Student's t of n − 1 degrees of freedom with the
    weighted scatter of the pairs themselves. It is never narrower than what the standard errors alone would give
    (Röver, Knapp and Friede, BMC Med. Res. Methodol. 15 (2015), 99). The prediction interval is that of Higgins,
    Thompson and Spiegelhalter (J. R. Stat. Soc. A 172 (2009), 137-159), with n − 2 degrees of freedom. I² is that of
    Higgins and Thompson (Stat. Med. 21 (2002), 1539-1558). Pairs without a standard error do not count.
    """
    counted = np.isfinite(effects) & (errors >= NO_SPREAD)
    effects, squares = np.where(counted, effects, 0.0), np.where(counted, errors, 1.0) ** 2
    n = counted.sum(axis=1)
    freedom = np.where(n > 1, n - 1, np.nan)
    weights = np.where(counted, 1 / squares, 0.0)
    q = _scatter(effects, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau2 = np.maximum(0, (q - freedom) / (weights.sum(axis=1) - (weights**2).sum(axis=1) / weights.sum(axis=1)))
        i2 = np.where(q > 0, np.maximum(0, 1 - freedom / q), 0 * freedom)
    weights = np.where(counted, 1 / (squares + np.nan_to_num(tau2)[:, None]), 0.0)
    scale = np.maximum(1, _scatter(effects, weights) / freedom)
    error = np.sqrt(scale / np.where(n > 0, weights.sum(axis=1), np.nan))
    means = t_interval(n, _mean(effects, weights), error, np.where(n >= LEAST_PAIRS, n - 1, np.nan))
    further = student_t(np.where(n >= LEAST_PAIRS, n - 2, np.nan)) * np.sqrt(tau2 + error**2)
    return Pooled(means, np.sqrt(tau2), np.where(n > 1, q, np.nan), i2, further)


def moderate_errors(errors: Floats, blocks: npt.NDArray[np.integer[Any]]) -> Floats:
    """The standard errors of each row (rows × pairs), of means of so many ``blocks``, with what the other pairs say of
    the noise: where blocks are few.

    The weights of :func:`pool` take them for known, and three blocks leave two degrees of freedom: a pair whose blocks
    happen to agree would outweigh all others. So pairs of fewer than ENOUGH_BLOCKS borrow from all of their row, as
    rows of a run do (:mod:`lab.stats.moderation`); it takes as many of them as there.
    """
    moderated = errors.copy()
    known = errors >= NO_SPREAD
    for row in np.flatnonzero((known.sum(axis=1) >= LEAST_ROWS) & (known & (blocks < ENOUGH_BLOCKS)).any(axis=1)):
        lends = np.flatnonzero(known[row])
        variances, freedom = errors[row, lends] ** 2 * blocks[row, lends], blocks[row, lends] - 1.0
        shrunk = np.sqrt(shrink(variances, freedom, fit_prior(variances, freedom)) / blocks[row, lends])
        moderated[row, lends] = np.where(blocks[row, lends] < ENOUGH_BLOCKS, shrunk, errors[row, lends])
    return moderated


def _mean(effects: Floats, weights: Floats) -> Floats:
    """The weighted mean of each row; NaN where nothing has a weight."""
    total = weights.sum(axis=1)
    mean: Floats = (weights * effects).sum(axis=1) / np.where(total > 0, total, np.nan)
    return mean


def _scatter(effects: Floats, weights: Floats) -> npt.NDArray[np.float64]:
    """The weighted sum of squares around the weighted mean, of each row."""
    scatter: Floats = (weights * (effects - np.nan_to_num(_mean(effects, weights))[:, None]) ** 2).sum(axis=1)
    return scatter
