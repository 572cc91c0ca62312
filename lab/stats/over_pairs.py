"""One sweep on several pairs of hosts: effects and speeds of each pair, and over the pairs, which are a sample."""

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
from lab.stats.intervals import NO_SPREAD, Floats, Means, log_percent, t_interval, t_means
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
Rows = dict[Key, Floats]  # the logarithms of each row in the blocks of a run
LEAST_PAIRS = 3  # for an interval: two pairs hardly show how far a third would lie


@dataclass(frozen=True)
class OverPairs:
    """The result of :func:`over_pairs`.

    ``effects`` has the columns KEY and EFFECT, the overall row of a comparison first; ``speeds`` the factors and SPEED.
    ``effects_of_pairs`` and ``speeds_of_pairs`` have a row for each ``row`` there and each ``pair`` (its place): its
    ``n_blocks``; ``change_pct`` or ``MB_per_s`` with its 95 % interval; and the logarithm's ``standard_error``.
    """

    effects: pd.DataFrame
    effects_of_pairs: pd.DataFrame
    speeds: pd.DataFrame
    speeds_of_pairs: pd.DataFrame


def over_pairs(pairs: Sequence[Sequence[Trials]]) -> OverPairs:
    """The effects and speeds of pairs of hosts, each with one run or more of a sweep, and both over the pairs.

    Blocks of several runs of a pair count alike. An overall row is over the cases that all pairs with this comparison
    have, because an effect over other cases is another effect. P-values are adjusted as in :func:`lab.stats.effects`.
    The payload's size is no factor here, because it may follow the link.
    """
    grids = common_grids([run for runs in pairs for run in runs], FACTORS)
    of_pair = [place for place, runs in enumerate(pairs) for _ in runs]
    keys, rows = _effect_rows(grids)
    first, second = _two_stages(keys, rows, of_pair, len(pairs))
    speeds = [{case: grid.log_speed[row] for case, row in by_case(grid).items()} for grid in grids]
    cases = list(dict.fromkeys(case for of_run in speeds for case in of_run))
    first_speeds, second_speeds = _two_stages(cases, speeds, of_pair, len(pairs))
    return OverPairs(
        _effect_table(keys, second), _of_pairs(first, len(pairs), EFFECT[1:4], log_percent),
        _speed_table(grids[0].factors, cases, second_speeds), _of_pairs(first_speeds, len(pairs), SPEED[1:4], _speed),
    )  # fmt: skip


def _effect_rows(grids: Sequence[Grid]) -> tuple[list[Key], list[Rows]]:
    """The keys of all rows by comparison, the overall row first; and the rows of each run."""
    rows = [_by_key(block_effects(grid)) for grid in grids]
    having: dict[tuple[int, ...], list[Key]] = {}
    for key in dict.fromkeys(key for of_run in rows for key in of_run if set(key[3:]) == {EVERY}):
        if runs := tuple(place for place, of_run in enumerate(rows) if np.isfinite(of_run.get(key, np.nan)).any()):
            having.setdefault(runs, []).append(key)
    for runs, keys in having.items():
        for place, common in zip(runs, _of_common_cases([grids[place] for place in runs]), strict=True):
            again = _by_key(block_effects(common))
            rows[place] |= {key: again.get(key, np.full(len(common.blocks), np.nan)) for key in keys}
    with_values = {key[:3] for of_run in rows for key, values in of_run.items() if np.isfinite(values).any()}
    every = dict.fromkeys(key for of_run in rows for key in of_run if key[:3] in with_values)
    order = {comparison: place for place, comparison in enumerate(dict.fromkeys(key[:3] for key in every))}
    return sorted(every, key=lambda key: (order[key[:3]], set(key[3:]) != {EVERY})), rows


def _by_key(effects: Iterator[tuple[dict[str, Level], Blockwise]]) -> Rows:
    return {tuple((named | row.at)[name] for name in KEY): row.log_ratios[0] for named, row in effects}


def _of_common_cases(grids: Sequence[Grid]) -> list[Grid]:
    """The grids without cases for which any of them has no good trial."""
    measured = [
        {case: row for case, row in by_case(grid).items() if np.isfinite(grid.log_speed[row]).any()} for grid in grids
    ]
    common = [case for case in measured[0] if all(case in of_run for of_run in measured)]
    return [
        grid if len(common) == len(of_run) == len(grid.codes) else take_cases(grid, [of_run[case] for case in common])
        for grid, of_run in zip(grids, measured, strict=True)
    ]


def _two_stages(keys: Sequence[Key], rows: Sequence[Rows], of_pair: Sequence[int], pairs: int) -> tuple[Means, Pooled]:
    """Each key of each pair (keys × pairs, flattened) by Student's t over its blocks; and each key over the pairs."""
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
    columns: list[npt.NDArray[Any]] = [second.means.n, *log_percent(second.means.ends), second.means.p, adjusted]
    columns += [adjusted < SIGNIFICANCE, log_percent(second.tau), second.i2, *map(log_percent, second.further)]
    return table.assign(**dict(zip(EFFECT, columns, strict=True)))


def _speed_table(factors: Sequence[str], cases: Sequence[Key], second: Pooled) -> pd.DataFrame:
    columns = [second.means.n, *map(_speed, second.means.ends), log_percent(second.tau), second.i2]
    columns += map(_speed, second.further)
    return pd.DataFrame(list(cases), columns=list(factors)).assign(**dict(zip(SPEED, columns, strict=True)))


def _of_pairs(first: Means, pairs: int, names: Sequence[str], shown: Callable[[Floats], Floats]) -> pd.DataFrame:
    """The first stage as a table: one row for each row and pair that has a block of it."""
    at = np.flatnonzero(first.n > 0)
    scaled = {column: shown(values[at]) for column, values in zip(names, first.ends, strict=True)}
    places: dict[str, npt.NDArray[np.intp]] = {"row": at // pairs, "pair": at % pairs}
    return pd.DataFrame({**places, "n_blocks": first.n[at], **scaled, "standard_error": first.error[at]})


def _speed(logs: Floats) -> Floats:
    """Numbers from their logarithms; infinite for intervals without end."""
    with np.errstate(over="ignore"):
        speeds: Floats = np.exp(logs)
    return speeds


@dataclass(frozen=True)
class Pooled:
    """Effects over pairs, one a row, as logarithms.

    ``means``: weighted means over the pairs that count, without an interval below LEAST_PAIRS. ``tau`` is the standard
    deviation between pairs, ``q`` Cochran's Q, ``i2`` the share of q beyond chance within pairs (0 to 1; NaN of one
    pair), and ``predicted`` the half width of the prediction interval for a further pair.
    """

    means: Means
    tau: Floats
    q: Floats
    i2: Floats
    predicted: Floats

    @property
    def further(self) -> tuple[Floats, Floats]:
        """The ends of the prediction interval."""
        return self.means.mean - self.predicted, self.means.mean + self.predicted


def pool(effects: Floats, errors: Floats) -> Pooled:
    """The effects of each row (rows × pairs, with standard errors; NaN where a pair has none) over its pairs.

    Variance between pairs: DerSimonian and Laird, Control. Clin. Trials 7 (1986), 177-188. Interval: Hartung and Knapp,
    Stat. Med. 20 (2001), 3875-3889; Sidik and Jonkman, Stat. Med. 21 (2002), 3153-3159; Student's t of n − 1 degrees of
    freedom with the weighted scatter of the pairs. It is never narrower than by the standard errors alone (Röver, Knapp
    and Friede, BMC Med. Res. Methodol. 15 (2015), 99). Prediction interval, n − 2 degrees of freedom: Higgins, Thompson
    and Spiegelhalter, J. R. Stat. Soc. A 172 (2009), 137-159. I²: Higgins and Thompson, Stat. Med. 21 (2002),
    1539-1558. Pairs without a standard error do not count.
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
    """The standard errors (rows × pairs) of means of so many ``blocks``, moderated by the row's other pairs.

    The weights of :func:`pool` take errors as known, so a pair of three blocks that happen to agree would outweigh all
    others. Pairs of fewer than ENOUGH_BLOCKS borrow from their row, as rows of a run do (:mod:`lab.stats.moderation`).
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
    """The weighted mean of each row; NaN without weights."""
    total = weights.sum(axis=1)
    mean: Floats = (weights * effects).sum(axis=1) / np.where(total > 0, total, np.nan)
    return mean


def _scatter(effects: Floats, weights: Floats) -> npt.NDArray[np.float64]:
    """The weighted sum of squares of each row around its weighted mean."""
    scatter: Floats = (weights * (effects - np.nan_to_num(_mean(effects, weights))[:, None]) ** 2).sum(axis=1)
    return scatter
