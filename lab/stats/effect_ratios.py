"""What a level changes against its baseline, and how two factors act together: ratios within blocks, by block.

Each block gives one number, however many pairs it has, and the interval is over blocks. So a setting that changes once
in a block (MTU, TCP buffers) counts once. Pairs that share a disturbance do not count as several.
"""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.design.factors import can_be_combined
from lab.stats.contrasts import Compared, Contrast, blockwise
from lab.stats.factors import POOLED, Codes, Level
from lab.stats.intervals import Floats, Means, holm, log_percent, median_and_interval, t_means
from lab.stats.moderation import moderate, widen
from lab.stats.speed_matrix import Grid
from lab.stats.two_way import let_go

SIGNIFICANCE = 0.05
EFFECT = (
    "factor", "baseline", "level", "method", "n_blocks", "n_pairs", "ratio", "change_pct", "low_pct", "high_pct",
    "p_value", "moderated_low_pct", "moderated_high_pct", "moderated_p", "p_adjusted", "established",
    "median_change_pct", "median_low_pct", "median_high_pct",
)  # fmt: skip
COMPARED = tuple(f"{prefix}{name}" for prefix in ("", "with_") for name in ("factor", "baseline", "level"))
PARTS = {"alone": (-1, 1, 0, 0), "on_top": (0, 0, -1, 1), "both": (-1, 0, 0, 1), "interaction": (1, -1, -1, 1)}
INTERACTION = (
    "factor", "baseline", "level", "with_factor", "with_baseline", "with_level", "method", "n_blocks", "n_pairs",
    *(f"{part}{end}" for part in PARTS for end in ("_pct", "_low_pct", "_high_pct")),
    "p_value", "interaction_moderated_low_pct", "interaction_moderated_high_pct", "interaction_moderated_p",
    "p_adjusted", "established",
)  # fmt: skip


def compared_factors(grid: Grid) -> list[str]:
    """The factors whose levels are compared: all that vary except the direction, which nobody sets."""
    return [factor for factor in grid.varied if factor != "direction"]


def adjustable_factors(grid: Grid) -> list[str]:
    """The factors that a person sets to make the same share faster: all that vary except POOLED."""
    return [factor for factor in grid.varied if factor not in POOLED]


def block_effects(grid: Grid, factors: Sequence[str] | None = None, by: Sequence[str] = POOLED) -> Iterator[Compared]:
    """Every level against the first of its factor: the comparison, and its log ratio in every block (1 × blocks)."""
    for contrast in effect_contrasts(grid, factors):
        for row in blockwise(grid, contrast, by):
            yield contrast.named, row


def effect_contrasts(grid: Grid, factors: Sequence[str] | None = None) -> Iterator[Contrast]:
    """Every level against the first of its factor."""
    signs = np.array([[-1.0, 1.0]])
    for factor in compared_factors(grid) if factors is None else factors:
        for code in range(1, len(grid.levels[factor])):
            yield Contrast(_level_columns(grid, factor, code), [{factor: 0}, {factor: code}], signs)


def effects(grid: Grid, factors: Sequence[str] | None = None, by: Sequence[str] = POOLED) -> pd.DataFrame:
    """What each level changes against the first of its factor: the overall row, then one row a combination of ``by`` if
    there are several.

    Columns: ``by`` (``all`` where averaged over it), then EFFECT. ``ratio`` is the geometric mean over blocks,
    ``change_pct`` the same in percent, with Student's t interval (df = blocks − 1; NaN below 3 blocks) and p-value.
    ``moderated_…``: interval and p-value with what the factor's other rows say of the noise
    (:mod:`lab.stats.moderation`). Overall rows, and rows of 8 blocks or more, equal the plain ones unless 10 or more
    blocks resemble the block before. ``p_adjusted`` is the moderated p adjusted for the number of comparisons. An
    effect is ``established`` if that is below 0.05 and Student's t interval excludes 0. Then the median of the blocks
    with its exact interval (from 6 blocks). ``method`` is ``pairs``, or ``model`` (a fraction; counts no pairs).
    """
    return effect_table(list(block_effects(grid, factors, by)), by)


def effect_table(
    rows: Sequence[Compared], by: Sequence[str] = POOLED, log_ratios: Floats | None = None
) -> pd.DataFrame:
    """The table of :func:`effects`; ``log_ratios``: values of ``rows`` if already one array (rows × parts × blocks)."""
    table = _begin_table(rows, by)
    values = (_by_block(rows) if log_ratios is None else log_ratios)[:, 0]
    means = t_means(values)
    table["ratio"] = np.exp(means.mean)
    table[["change_pct", "low_pct", "high_pct"]] = log_percent(means.ends).T
    medians = [_median(row.log_ratios[0]) for _, row in rows]
    table[["median_change_pct", "median_low_pct", "median_high_pct"]] = np.array(medians).reshape(-1, 3)
    return _add_tests(table, means, values)[[*by, *EFFECT]]


def block_interactions(
    grid: Grid, pairs: Sequence[tuple[str, str]] | None = None, by: Sequence[str] = POOLED
) -> Iterator[Compared]:
    """Two factors against their first levels: the comparison, and the log ratios of PARTS (4 × blocks)."""
    for contrast in interaction_contrasts(grid, pairs):
        for row in blockwise(grid, contrast, by):
            yield contrast.named, row


def interaction_contrasts(grid: Grid, pairs: Sequence[tuple[str, str]] | None = None) -> Iterator[Contrast]:
    """Two factors against their first levels; by default all pairs of :func:`adjustable_factors`."""
    signs = np.array(list(PARTS.values()), dtype=float)
    every = itertools.combinations(adjustable_factors(grid), 2)
    combinable = (pair for pair in every if can_be_combined(*pair, grid.levels))
    for first, second in combinable if pairs is None else pairs:
        codes = itertools.product(*(range(1, len(grid.levels[factor])) for factor in (first, second)))
        for level, with_level in codes:
            named = _level_columns(grid, first, level) | _level_columns(grid, second, with_level, "with_")
            corners = [{first: code, second: with_code} for with_code in (0, with_level) for code in (0, level)]
            yield Contrast(named, corners, signs)


def interactions(
    grid: Grid, pairs: Sequence[tuple[str, str]] | None = None, by: Sequence[str] = POOLED
) -> pd.DataFrame:
    """How two factors act together, with rows as in :func:`effects`; by default all that a person sets.

    Columns: ``by``, then INTERACTION, in percent with t intervals over blocks. ``alone``: the first factor, the second
    at its baseline; ``on_top`` of the second one's level; ``both`` together. ``interaction`` is on_top over alone. The
    p-values and the moderated interval belong to the interaction.
    """
    return interaction_table(list(block_interactions(grid, pairs, by)), by)


def interaction_table(
    rows: Sequence[Compared], by: Sequence[str] = POOLED, log_ratios: Floats | None = None
) -> pd.DataFrame:
    """The table of :func:`interactions`, one row for each of :func:`block_interactions`; see :func:`effect_table`."""
    table = _begin_table(rows, by)
    values = _by_block(rows) if log_ratios is None or not rows else log_ratios
    for number, part in enumerate(PARTS):
        means = t_means(values[:, number])
        table[[f"{part}_pct", f"{part}_low_pct", f"{part}_high_pct"]] = log_percent(means.ends).T
    return _add_tests(table, means, values[:, -1], "interaction_")[[*by, *INTERACTION]]


def adjust_p_values(p_values: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The p-values of one table adjusted for its number of rows, and which of them are significant."""
    adjusted = holm(p_values)
    return adjusted, adjusted < SIGNIFICANCE


def comparisons(table: pd.DataFrame) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """The number of each row's comparison, and whether the row is the overall (first) one of that."""
    numbers = _group_numbers(table, [name for name in COMPARED if name in table])
    return numbers, ~pd.Series(numbers).duplicated().to_numpy()


def _level_columns(grid: Grid, factor: str, code: int, prefix: str = "") -> dict[str, Level]:
    levels = grid.levels[factor]
    return {f"{prefix}factor": factor, f"{prefix}baseline": levels[0], f"{prefix}level": levels[code]}


def _begin_table(rows: Sequence[Compared], by: Sequence[str]) -> pd.DataFrame:
    """The columns that name each comparison, its place and its method."""
    records = [row.at | named | {"method": row.method, "n_pairs": row.n_pairs} for named, row in rows]
    return pd.DataFrame(records, columns=None if records else [*by, *COMPARED, "method", "n_pairs"]).astype(
        {"n_pairs": "int64"}
    )


def _by_block(rows: Sequence[Compared]) -> Floats:
    """The log ratios of all rows (rows × parts × blocks)."""
    return np.array([row.log_ratios for _, row in rows]) if rows else np.empty((0, len(PARTS), 0))


def _median(log_ratios: Floats) -> Floats:
    changes = log_percent(np.array(median_and_interval(np.asarray(log_ratios[np.isfinite(log_ratios)]))))
    let_go(log_ratios)
    return changes


def _add_tests(table: pd.DataFrame, means: Means, values: Floats, prefix: str = "") -> pd.DataFrame:
    """The tests of ``means`` of ``values`` (rows × blocks): plain, moderated, and adjusted for their number."""
    comparison, is_overall = comparisons(table)
    factor = _group_numbers(table, [name for name in COMPARED if name in table and name.endswith("factor")])
    moderated = widen(values, moderate(values, means, np.where(is_overall, -1, factor)), factor)
    adjusted = adjust_by_gate(moderated.p, comparison)
    is_established = (adjusted < SIGNIFICANCE) & (means.p < SIGNIFICANCE)  # the interval is without 0
    _, low, high = log_percent(moderated.ends)
    names = [f"{prefix}moderated_{name}" for name in ("low_pct", "high_pct", "p")]
    return table.assign(
        **dict(zip(names, (low, high, moderated.p), strict=True)),
        n_blocks=means.n, p_value=means.p, p_adjusted=adjusted, established=is_established,
    )  # fmt: skip


def _group_numbers(table: pd.DataFrame, names: list[str]) -> Codes:
    if table.empty:
        return np.empty(0, dtype=np.intp)
    return table.groupby(names, sort=False, observed=True).ngroup().to_numpy().astype(np.intp)


def adjust_by_gate(p: Floats, comparison: Codes) -> Floats:
    """The p-values adjusted for their number. ``comparison`` has the number of each row's comparison, whose overall row
    comes first. NaN is no test; if the overall row is none, the rows below it are none.

    The inheritance procedure of Goeman and Finos, Stat. Appl. Genet. Mol. Biol. 11 (2012), article 11, for a tree of
    two levels. It keeps the family-wise error, whichever hypotheses are true and however the tests depend on each other
    (Goeman and Solari, The sequential rejection principle, Ann. Stat. 38 (2010), 3782-3810).
    """
    adjusted = np.full(len(p), np.nan)
    if not len(p):
        return adjusted
    begins = np.flatnonzero(np.r_[True, np.diff(comparison) != 0])
    tested = [rows for rows in np.split(np.arange(len(p)), begins[1:]) if np.isfinite(p[rows[0]])]
    # within a comparison: rows below its overall row by Holm, and never below the overall row's p
    alone = [np.r_[p[rows[0]], np.maximum(p[rows[0]], holm(p[rows[1:]]))] for rows in tested]
    completed = np.array([np.nanmax(values) for values in alone])
    order = np.argsort(completed, kind="stable")
    count = len(tested)
    # the level at which so many comparisons are done, from none on: Holm's method for comparisons as a whole
    levels = np.r_[0.0, np.maximum.accumulate(completed[order] * np.arange(count, 0, -1))]
    for place, number in enumerate(order):
        before = np.arange(place + 1)
        shares = alone[number][:, None] * (count - before)
        adjusted[tested[number]] = np.maximum(levels[before], shares).min(axis=1)
    bounded: Floats = np.minimum(adjusted, 1)
    return bounded
