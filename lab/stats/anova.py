"""How much of the variation of speeds each factor accounts for: sums of squares of log MB/s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lab.stats.intervals import Floats
from lab.stats.linear_model import design
from lab.stats.speed_matrix import Grid

BLOCK, REST = "block", "rest"
SHARE = ("term", "df", "sum_of_squares", "share")
Terms = dict[tuple[str, ...], slice]
NO_SQUARES = 1e-10  # of the largest: what rounding leaves of a column that says nothing new


@dataclass(frozen=True)
class Shares:
    """``table`` has the columns SHARE; ``used`` of ``blocks`` blocks were complete and are in it."""

    table: pd.DataFrame
    used: int
    blocks: int


def shares(grid: Grid) -> Shares:
    """The sum of squares of log MB/s by varied factor, two-way interaction (``mtu:tcp_space``), block, and the rest.

    Only blocks in which every case was measured are used; a case that never was is left out. Type II: a factor counts
    for what it adds to all terms that do not contain it. On a grid without holes the shares add up to 1; with holes
    (cp has no ssh) what two factors explain alike is in neither. The rest is higher interactions and noise. Source:
    Fox, Applied Regression Analysis, 3rd ed., section 8.2.
    """
    measured = np.isfinite(grid.log_speed)
    cases = measured.any(axis=1)
    complete = measured[cases].all(axis=0) & cases.any()
    speeds = grid.log_speed[np.ix_(cases, complete)]
    if not speeds.size:
        return Shares(pd.DataFrame(columns=list(SHARE)), 0, len(grid.blocks))
    table = pd.DataFrame(_squares(*design(grid, grid.codes[cases]), speeds - speeds.mean()), columns=list(SHARE[:3]))
    total = ((speeds - speeds.mean()) ** 2).sum()
    return Shares(
        table.assign(share=table["sum_of_squares"] / (total or np.nan)), int(complete.sum()), len(grid.blocks)
    )


def _squares(rows: Floats, terms: Terms, deviations: Floats) -> list[tuple[str, int, float]]:
    """Name, degrees of freedom and sum of squares of every term, block and rest, of cases × blocks."""
    cases, blocks = deviations.shape
    gram, products = rows.T @ rows, rows.T @ deviations.mean(axis=1)
    rows_of_terms = [
        (":".join(term), df, blocks * explained) for term, (df, explained) in _type_two(gram, products, terms).items()
    ]
    between_blocks = cases * float((deviations.mean(axis=0) ** 2).sum())
    rank, explained = _fit(gram, products, list(terms.values()))
    left = float((deviations**2).sum()) - blocks * explained - between_blocks
    return [*rows_of_terms, (BLOCK, blocks - 1, between_blocks), (REST, cases * blocks - rank - blocks + 1, left)]


def _type_two(gram: Floats, products: Floats, terms: Terms) -> dict[tuple[str, ...], tuple[int, float]]:
    """For each term its degrees of freedom and what it explains beyond all terms that do not contain it."""
    explained_by = {}
    for term, columns in terms.items():
        if term:
            others = [part for other, part in terms.items() if not set(term) <= set(other)]
            rank, explained = _fit(gram, products, others)
            more_rank, more = _fit(gram, products, [*others, columns])
            explained_by[term] = (more_rank - rank, more - explained)
    return explained_by


def _fit(gram: Floats, products: Floats, parts: Sequence[slice]) -> tuple[int, float]:
    """The rank of a least-squares fit of some columns, and the sum of squares that it explains (normal equations)."""
    chosen = np.r_[tuple(parts)]
    solution, _, rank, _ = np.linalg.lstsq(gram[np.ix_(chosen, chosen)], products[chosen], rcond=NO_SQUARES)
    return int(rank), float(products[chosen] @ solution)
