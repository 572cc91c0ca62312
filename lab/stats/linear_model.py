"""A linear model of log speed within one block, for sweeps that ran only a fraction of the grid.

Main effects and two-way interactions of all varied factors, coded to sum to zero: the levels of a factor that a row
leaves open then count equally. Fitted by ordinary least squares, one block at a time. Source: Wu and Hamada,
Experiments, 3rd ed., chapter 5.
"""

import functools
import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lab.design.factors import can_be_combined
from lab.stats.intervals import Floats
from lab.stats.speed_matrix import Grid

ESTIMABLE = 1e-8  # how far a contrast may lean out of what was measured: rounding, no more
NO_SQUARES = 1e-10  # a case: what rounding leaves of a direction that no case sees
MOST_WORK = 2e9  # products to fit every block: a second or so; fractions whose blocks differ take a hundredth of it


def mean_row(grid: Grid, setting: Mapping[str, int]) -> Floats:
    """What the model says of the mean over all cases at ``setting`` (codes of levels): a row of its design."""
    codes = np.array([[setting.get(factor, -1) for factor in grid.factors]])
    row: Floats = design(grid, codes)[0][0]
    return row


def design(grid: Grid, codes: npt.NDArray[np.intp]) -> tuple[Floats, dict[tuple[str, ...], slice]]:
    """The model's rows for ``codes`` (rows × factors), and the columns of each term.

    A code of −1 is averaged over the levels, or an option of another protocol or tool.
    """
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
    """How many columns the design has for factors with these levels."""
    more = {factor: len(values) - 1 for factor, values in levels.items() if len(values) > 1}
    products = (
        more[one] * more[other] for one, other in itertools.combinations(more, 2) if can_be_combined(one, other, levels)
    )
    return 1 + sum(more.values()) + sum(products)


def _sum_to_zero(codes: npt.NDArray[np.intp], count: int) -> Floats:
    """One column a level but the last, which is −1 in all of them; a row of zeros for the code −1."""
    contrasts = np.vstack([np.eye(count - 1), -np.ones(count - 1), np.zeros(count - 1)])
    return contrasts[codes]


def model_values(grid: Grid, contrasts: Floats) -> Floats:
    """The value of each contrast (contrasts × columns of the design) in each block; NaN where it is not estimable.

    A contrast is estimable in a block when it is a combination of the design's rows that were measured there. None is
    where fitting all blocks would take MOST_WORK: very many levels, and other cases in each block.
    """
    fitted = _fit(grid)
    values: Floats = contrasts @ fitted.coefficients
    for blocks, unseen in fitted.unseen:
        lost = (np.abs(contrasts @ unseen) > ESTIMABLE).any(axis=1)
        values[np.ix_(np.flatnonzero(lost), blocks)] = np.nan
    return values


@dataclass(frozen=True)
class _Fit:
    """The model of every block: ``coefficients`` (columns × blocks), and for groups of blocks the directions in the
    space of coefficients (columns × directions) that their cases cannot see.
    """

    coefficients: Floats
    unseen: list[tuple[npt.NDArray[np.intp], Floats]]


@functools.lru_cache(maxsize=1)  # each comparison of a table asks for the same fit
def _fit(grid: Grid) -> _Fit:
    rows = design(grid, grid.codes)[0]
    measured = np.isfinite(grid.log_speed)
    patterns: dict[bytes, list[int]] = {}
    for block, pattern in enumerate(np.packbits(measured, axis=0).T):
        patterns.setdefault(pattern.tobytes(), []).append(block)
    coefficients, unseen = np.zeros((rows.shape[1], len(grid.blocks))), []
    if len(patterns) * float(rows.shape[1]) ** 3 > MOST_WORK:
        return _Fit(np.full_like(coefficients, np.nan), [])
    for blocks in map(np.array, patterns.values()):
        here = measured[:, blocks[0]]
        squares, directions = np.linalg.eigh(rows[here].T @ rows[here])
        seen = squares > NO_SQUARES * len(rows)
        projections = directions[:, seen].T @ rows[here].T @ grid.log_speed[here][:, blocks]
        coefficients[:, blocks] = directions[:, seen] @ (projections / squares[seen, None])
        unseen.append((blocks, directions[:, ~seen]))
    return _Fit(coefficients, unseen)
