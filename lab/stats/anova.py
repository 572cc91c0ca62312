"""Each factor's share of the variation of speeds: sums of squares of log MB/s."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.stats.intervals import Floats
from lab.stats.linear_model import design
from lab.stats.speed_matrix import Grid

BLOCK, REST = "block", "rest"
SHARE = ("term", "df", "sum_of_squares", "share")
Term = tuple[str, ...]  # its factors
NO_SQUARES = 1e-10  # of the largest: rounding errors of a column that depends on others
LEAST_PIVOT = 1e-6  # of the largest: with more, no column nearly depends on others
MOST_WORK = 7e9  # about 2 s; two factors of a thousand cases, one of them never measured, take 6e9


@dataclass(frozen=True)
class Shares:
    """``table`` has the columns SHARE, from the complete blocks: ``used`` of ``blocks``."""

    table: pd.DataFrame
    used: int
    blocks: int


@dataclass
class _CompleteBlocks:
    """Sums of log MB/s less ``middle`` over the blocks in which every case was measured.

    ``of_cases`` has a sum for each case, ``squares`` that of all squares, ``squares_of_blocks`` the sum of the squares
    of the blocks' means.
    """

    of_cases: Floats
    blocks: int = 0
    used: int = 0
    middle: float = 0.0
    squares: float = 0.0
    squares_of_blocks: float = 0.0

    def add(self, speeds: Floats) -> None:
        """Add blocks (cases × blocks of log MB/s); incomplete ones do not count."""
        self.blocks += speeds.shape[1]
        speeds = speeds[:, np.isfinite(speeds).all(axis=0)]
        if not speeds.size:
            return
        if not self.used:
            self.middle = float(speeds.mean())
        deviations = speeds - self.middle
        self.used += speeds.shape[1]
        self.of_cases += deviations.sum(axis=1)
        self.squares += float((deviations**2).sum())
        self.squares_of_blocks += float((deviations.mean(axis=0) ** 2).sum())

    @property
    def mean(self) -> float:
        """The mean of all, less ``middle``; about 0 if all blocks came at once."""
        return float(self.of_cases.mean()) / self.used

    @property
    def total(self) -> float:
        """The sum of squares about the mean of all."""
        return self.squares - len(self.of_cases) * self.used * self.mean**2

    @property
    def between(self) -> float:
        """The part of ``total`` between the means of blocks."""
        return len(self.of_cases) * (self.squares_of_blocks - self.used * self.mean**2)


def shares(grid: Grid) -> Shares:
    """The sum of squares of log MB/s by varied factor, two-way interaction (``mtu:tcp_space``), block, and the rest.

    From the blocks in which every measured case is present. Type II: a factor counts for what it adds to all terms that
    do not contain it. Without holes in the grid the shares add up to 1; with holes (cp has no ssh) a joint part of two
    factors is in neither. The rest is higher interactions and noise. Empty if nothing was measured, or if very many
    levels with holes would take MOST_WORK. Source: Fox, Applied Regression Analysis, 3rd ed., section 8.2.
    """
    return shares_in_parts(grid, np.asarray(np.isfinite(grid.log_speed).any(axis=1)), [grid])


def shares_in_parts(grid: Grid, measured: npt.NDArray[np.bool_], parts: Iterable[Grid]) -> Shares:
    """:func:`shares` of a grid in ``parts``, each with some blocks; ``measured`` says which cases any part has."""
    sums = _CompleteBlocks(np.zeros(int(measured.sum())))
    for part in parts:
        sums.add(part.log_speed[measured])
    nothing = Shares(pd.DataFrame(columns=list(SHARE)), 0, sums.blocks)
    if not sums.used:
        return nothing
    rows, terms = design(grid, grid.codes[measured])
    model = _Model(rows.T @ rows, rows.T @ (sums.of_cases / sums.used - sums.mean), terms)
    if model.work > MOST_WORK:
        return nothing
    table = pd.DataFrame(_squares(model, sums), columns=list(SHARE[:3]))
    return Shares(table.assign(share=table["sum_of_squares"] / (sums.total or np.nan)), sums.used, sums.blocks)


@dataclass(frozen=True)
class _Model:
    """Normal equations: ``gram`` (columns × columns), ``products`` with the explained values, the columns of terms."""

    gram: Floats
    products: Floats
    terms: dict[Term, slice]

    @cached_property
    def is_regular(self) -> bool:
        """Whether no column depends on others. Then parts of the model have full rank, too, and are solved faster."""
        try:
            pivots = np.diag(np.linalg.cholesky(self.gram)) ** 2
        except np.linalg.LinAlgError:
            return False
        return bool(pivots.min() > LEAST_PIVOT * pivots.max())

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of regular equations."""
        return np.linalg.inv(self.gram).astype(np.float64, copy=False)

    def holding(self, term: Term) -> list[Term]:
        """The interactions that contain a term."""
        return [other for other in self.terms if set(term) < set(other)]

    @property
    def work(self) -> float:
        """The number of products that finding each term's addition takes, if the size of the model matters."""
        fits = 1 + sum(2 if self.holding(term) else 1 for term in self.terms if term)
        return 0 if self.is_regular else float(fits) * len(self.gram) ** 3

    def fit(self, terms: Sequence[Term]) -> tuple[int, float]:
        """The rank of a least-squares fit of some terms, and the sum of squares that it explains."""
        if len(terms) == len(self.terms):
            return self.whole
        chosen = np.r_[tuple(self.terms[term] for term in terms)]
        return _solve(self.gram[np.ix_(chosen, chosen)], self.products[chosen], self.is_regular)

    @cached_property
    def whole(self) -> tuple[int, float]:
        """The fit of all terms."""
        return _solve(self.gram, self.products, self.is_regular)

    def added_by(self, term: Term) -> tuple[int, float]:
        """A term's degrees of freedom, and what it explains beyond all terms that do not contain it."""
        holding = self.holding(term)
        if self.is_regular and not holding:  # beyond all others: by its own coefficients and their errors
            span = self.terms[term]
            coefficients = self.inverse[span] @ self.products
            return len(coefficients), float(coefficients @ np.linalg.solve(self.inverse[span, span], coefficients))
        others = [other for other in self.terms if other != term and other not in holding]
        (rank, explained), (more_rank, more) = self.fit(others), self.fit([*others, term])
        return more_rank - rank, more - explained


def _squares(model: _Model, sums: _CompleteBlocks) -> list[tuple[str, int, float]]:
    """Name, degrees of freedom and sum of squares of every term, block and rest."""
    cases, blocks = len(sums.of_cases), sums.used
    added = {term: model.added_by(term) for term in model.terms if term}
    rows_of_terms = [(":".join(term), df, blocks * explained) for term, (df, explained) in added.items()]
    rank, explained = model.whole
    rest = sums.total - blocks * explained - sums.between
    return [*rows_of_terms, (BLOCK, blocks - 1, sums.between), (REST, cases * blocks - rank - blocks + 1, rest)]


def _solve(gram: Floats, products: Floats, is_regular: bool) -> tuple[int, float]:
    """The rank of normal equations, and the sum of squares that their solution explains."""
    if is_regular:
        return len(gram), float(products @ np.linalg.solve(gram, products))
    solution, _, rank, _ = np.linalg.lstsq(gram, products, rcond=NO_SQUARES)
    return int(rank), float(products @ solution)
