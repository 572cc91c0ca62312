"""A linear model of log speed within one block, for sweeps that ran only a fraction of the grid.

Main effects and two-way interactions of all varied factors, coded to sum to zero, so that all levels of an open factor
count equally. Ordinary least squares, one block at a time. Source: Wu and Hamada, Experiments, 3rd ed., chapter 5.
"""

import functools
import itertools
from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from lab.base.groups import grouped
from lab.design.factors import can_be_combined
from lab.stats.intervals import Floats
from lab.stats.speed_matrix import Grid

ESTIMABLE = 1e-8  # the part of a contrast outside the measured space that rounding may leave
NO_SQUARES = 1e-10  # a case: rounding errors of a direction that no case sees
MOST_WORK = 2e9  # products to fit every block: about a second; usual fractions take a hundredth


def mean_row(grid: Grid, setting: Mapping[str, int]) -> Floats:
    """The row of the design for the mean over all cases at ``setting`` (codes of levels)."""
    row: Floats = design(grid, np.array([[setting.get(factor, -1) for factor in grid.factors]]))[0][0]
    return row


def design(grid: Grid, codes: npt.NDArray[np.intp]) -> tuple[Floats, dict[tuple[str, ...], slice]]:
    """The model's rows for ``codes`` (rows × factors; −1 is the mean, or no such option), and columns by term."""
    columns = [np.ones((len(codes), 1))]
    terms: dict[tuple[str, ...], slice] = {(): slice(0, 1)}
    mains = {
        factor: _sum_to_zero(codes[:, grid.factors.index(factor)], len(grid.levels[factor])) for factor in grid.varied
    }
    products = {
        (one, other): (mains[one][:, :, None] * mains[other][:, None]).reshape(len(codes), -1)
        for one, other in itertools.combinations(mains, 2)
        if can_be_combined(one, other, grid.levels)
    }
    named: dict[tuple[str, ...], Floats] = {(factor,): main for factor, main in mains.items()}
    for term, part in (named | products).items():
        begin = terms[next(reversed(terms))].stop
        terms[term] = slice(begin, begin + part.shape[1])
        columns.append(part)
    return np.hstack(columns), terms


def count_columns(levels: Mapping[str, Collection[object]]) -> int:
    """The number of columns of the design for factors with these levels."""
    more = {factor: len(values) - 1 for factor, values in levels.items() if len(values) > 1}
    products = (
        more[one] * more[other] for one, other in itertools.combinations(more, 2) if can_be_combined(one, other, levels)
    )
    return 1 + sum(more.values()) + sum(products)


def _sum_to_zero(codes: npt.NDArray[np.intp], count: int) -> Floats:
    """One column for each level except the last, which is −1 in all of them; a row of zeros for the code −1."""
    return np.vstack([np.eye(count - 1), -np.ones(count - 1), np.zeros(count - 1)])[codes]


def model_values(grid: Grid, contrasts: Floats) -> Floats:
    """The value of each contrast (contrasts × columns of the design) in each block; NaN where it is not estimable.

    A contrast is estimable in a block if it is a combination of the design's rows that were measured there. If fitting
    all blocks would take MOST_WORK (very many levels, other cases in each block), none is.
    """
    coefficients, unseen_directions = _fit(grid)
    values: Floats = contrasts @ coefficients
    for blocks, unseen in unseen_directions:
        lost = (np.abs(contrasts @ unseen) > ESTIMABLE).any(axis=1)
        values[np.ix_(np.flatnonzero(lost), blocks)] = np.nan
    return values


@functools.lru_cache(maxsize=1)  # each comparison of a table asks for the same fit
def _fit(grid: Grid) -> tuple[Floats, list[tuple[npt.NDArray[np.intp], Floats]]]:
    """The coefficients of every block (columns × blocks); and for groups of blocks the directions in the space of
    coefficients (columns × directions) that their cases cannot see.
    """
    rows = design(grid, grid.codes)[0]
    measured = np.isfinite(grid.log_speed)
    patterns = grouped((pattern.tobytes(), block) for block, pattern in enumerate(np.packbits(measured, axis=0).T))
    coefficients, unseen = np.zeros((rows.shape[1], len(grid.blocks))), []
    if len(patterns) * float(rows.shape[1]) ** 3 > MOST_WORK:
        return np.full_like(coefficients, np.nan), []
    for blocks in map(np.array, patterns.values()):
        here = measured[:, blocks[0]]
        squares, directions = np.linalg.eigh(rows[here].T @ rows[here])
        seen = squares > NO_SQUARES * len(rows)
        projections = directions[:, seen].T @ rows[here].T @ grid.log_speed[here][:, blocks]
        coefficients[:, blocks] = directions[:, seen] @ (projections / squares[seen, None])
        unseen.append((blocks, directions[:, ~seen]))
    return coefficients, unseen
