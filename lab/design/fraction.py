"""Which cases of a large grid to run: a seeded D-optimal choice, and what it leaves confounded.

The model is that of the logarithm of a speed: a constant, the main effect of every varied factor, and every two-way
interaction, in sum-to-zero coding. Pure: factors are mappings from a name to its level in each case.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lab.design.factors import ABSENT, can_be_combined

Matrix: TypeAlias = npt.NDArray[np.float64]
Factors: TypeAlias = Mapping[str, Sequence[Any]]

MOST_STARTS = 40  # random beginnings of the exchange; the best end is taken
EFFORT = 10**6  # an exchange takes time with the square of the number of cases, so that large grids get fewer starts
REGULAR_TRIES = 300  # how many random regular fractions are tried
VAGUE = 1e-6  # prior precision of what has to be estimated: none, but for a matrix that can be inverted
RANK_TOLERANCE = 1e-7  # of singular values, of columns whose mean square is about 1
LEAST_GAIN = 1e-6  # an exchange that gains less is rounding
CONFOUNDED = 0.3  # the correlation from which on two effects count as confounded


def model_terms(factors: Factors) -> dict[str, Matrix]:
    """The columns of each main effect and two-way interaction, by name (``mtu``, ``mtu:tcp_space``), one row a case.

    Factors with one level have none. Main effects come first. An option has its effect within its protocol or tool.
    """
    main = {name: _contrasts(levels) for name, levels in factors.items() if len(set(levels) - {ABSENT}) > 1}
    pairs = {
        f"{one}:{other}": (main[one][:, :, None] * main[other][:, None, :]).reshape(len(main[one]), -1)
        for one, other in itertools.combinations(main, 2)
        if can_be_combined(one, other, factors)
    }
    return main | pairs


def _contrasts(levels: Sequence[Any]) -> Matrix:
    """Sum-to-zero coding: a column for each level but the last, which is −1 in all of them; ABSENT is 0 in all."""
    distinct = [level for level in dict.fromkeys(levels) if level != ABSENT]
    count = len(distinct)
    coding = np.vstack([np.eye(count - 1), -np.ones(count - 1), np.zeros(count - 1)])
    rows = {level: row for row, level in enumerate(distinct)}
    return coding[[rows.get(level, count) for level in levels]]


def least_runs(factors: Factors) -> int:
    """The fewest cases that keep all main effects apart: the rank of the constant and the main effects."""
    main, _ = _bases(model_terms(factors), len(next(iter(factors.values()))))
    return len(main.T)


def choose(factors: Factors, runs: int, seed: int) -> list[int]:
    """``runs`` of the cases, by index, in order; the first case is always one, for it is what others are compared with.

    Maximises the determinant of the information matrix by Fedorov's exchange, from several random beginnings (Fedorov
    1972, Theory of Optimal Experiments, section 3.2). Where there are too few runs for all two-way interactions these
    get a prior of the size of a main effect (DuMouchel and Jones 1994, Technometrics 36, 37-47), and that end is taken
    which tells most about the main effects beside them. The grid need not be complete: columns that it cannot tell
    apart count once. No case is chosen twice. The same for a seed.
    """
    count = len(next(iter(factors.values())))
    main, both = _bases(model_terms(factors), count)
    prior, first = np.full(both.shape[1], VAGUE), 0
    if runs < both.shape[1]:
        first = main.shape[1]
        prior[first:] = 1.0

    def merit(chosen: Sequence[int]) -> tuple[float, float]:
        rows = both[list(chosen)]
        information = rows.T @ rows + np.diag(prior)
        everything = _log_determinant(information)
        return round(everything - _log_determinant(information[first:, first:]), 6) if first else 0.0, everything

    chance = random.Random(f"fraction/{seed}")  # noqa: S311 – starts that the seed gives again
    starts = [[0, *chance.sample(range(1, count), runs - 1)] for _ in range(_starts(count))]
    ends = [_exchange(both, start, prior) for start in starts]
    return max(ends + _regular_fractions(factors, runs, chance), key=merit)


def _starts(count: int) -> int:
    return min(MOST_STARTS, max(2, EFFORT // count**2))


def efficiency(factors: Factors, chosen: Sequence[int]) -> float:
    """The D-efficiency of the choice for all effects, against the whole grid: 1 is as much from each trial; 0 not all.

    That is (det(X'X / n) of the choice over that of the grid) to the power of one over the number of columns.
    """
    both = _bases(model_terms(factors), len(next(iter(factors.values()))))[1]
    rows = both[list(chosen)]
    if _rank(rows) < both.shape[1]:
        return 0.0
    return float(np.exp(np.linalg.slogdet(rows.T @ rows / len(rows))[1] / both.shape[1]))


def not_estimable(factors: Factors, chosen: Sequence[int]) -> list[str]:
    """The effects of which the choice tells less than the whole grid does, beside all others.

    A main effect among them can be told from all other main effects, but not from every two-way interaction.
    """
    grid = model_terms(factors)
    rows = {name: columns[list(chosen)] for name, columns in grid.items()}
    return [name for name in grid if _degrees_of_freedom(rows, name) < _degrees_of_freedom(grid, name)]


def aliases(factors: Factors, chosen: Sequence[int], name: str) -> list[tuple[str, float]]:
    """The two-way interactions that an effect cannot be told from, each with its correlation: 1 is wholly.

    The correlation is the largest canonical one over the chosen cases, beside the constant and, for an interaction, the
    main effects; those from CONFOUNDED on are named, the largest first.
    """
    rows = {term: columns[list(chosen)] for term, columns in model_terms(factors).items()}
    beside = [np.ones((len(chosen), 1)), *(rows[term] for term in rows if ":" in name and ":" not in term)]
    fitted = _orthonormal_basis(np.hstack(beside))
    own = _orthonormal_basis(_residuals(rows[name], fitted))
    correlations: dict[str, float] = {}
    for term in rows:
        if ":" in term and term != name:
            cosines = own.T @ _orthonormal_basis(_residuals(rows[term], fitted))
            correlations[term] = float(np.linalg.norm(cosines, 2)) if cosines.size else 0.0
    strong = [(term, min(1.0, value)) for term, value in correlations.items() if round(value, 9) >= CONFOUNDED]
    return sorted(strong, key=lambda alias: -round(alias[1], 9))


def _bases(terms: Mapping[str, Matrix], count: int) -> tuple[Matrix, Matrix]:
    """Columns that span the constant and main effects, and these with those that interactions add to them.

    Orthogonal over the whole grid, with a mean square of 1.
    """
    parts = [[np.ones((count, 1))], [], []]
    for name, columns in terms.items():
        parts[2 if ":" in name else 1].append(columns)
    basis = np.empty((count, 0))
    spans = []
    for part in parts:
        new = _orthonormal_basis(_residuals(np.hstack([np.empty((count, 0)), *part]), basis))
        basis = np.hstack([basis, new])
        spans.append(basis * np.sqrt(count))
    return spans[1], spans[2]


def _residuals(columns: Matrix, fitted: Matrix) -> Matrix:
    """The columns less what the orthonormal ``fitted`` explain of them."""
    return columns - fitted @ (fitted.T @ columns)


def _orthonormal_basis(columns: Matrix) -> Matrix:
    """Orthonormal columns that span the same space."""
    if not columns.size:
        return np.empty((len(columns), 0))
    vectors, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(vectors[:, sizes > RANK_TOLERANCE * np.sqrt(len(columns))], dtype=np.float64)


def _rank(rows: Matrix) -> int:
    return int(np.linalg.matrix_rank(rows, tol=RANK_TOLERANCE * np.sqrt(len(rows))))


def _degrees_of_freedom(terms: Mapping[str, Matrix], name: str) -> int:
    """How many contrasts of a term are independent of all other terms."""
    ones = np.ones((len(terms[name]), 1))
    others = np.hstack([ones, *(columns for term, columns in terms.items() if term != name)])
    return _rank(np.hstack([others, terms[name]])) - _rank(others)


def _log_determinant(information: Matrix) -> float:
    """Rounded, so that the last digits of a machine's arithmetic decide nothing."""
    return round(float(np.linalg.slogdet(information)[1]), 6)


def _regular_fractions(factors: Factors, runs: int, chance: random.Random) -> list[list[int]]:
    """Some random regular fractions; none unless the grid is complete and its varied factors have m levels each.

    Those are the cases where sums of some level numbers are 0 modulo m (m prime): the classic 2^(k−p) and 3^(k−p). The
    exchange alone rarely meets one of many factors.
    """
    varied = [list(levels) for levels in factors.values() if len(set(levels) - {ABSENT}) > 1]
    m, count = len(set(varied[0])), len(varied[0])
    words = round(math.log(count / runs, m))
    if m not in (2, 3, 5) or {len(set(levels)) for levels in varied} != {m}:
        return []
    if count != m ** len(varied) or runs * m**words != count or not words:
        return []
    numbers = np.array([[list(dict.fromkeys(levels)).index(level) for level in levels] for levels in varied])
    fractions = []
    for _ in range(REGULAR_TRIES):
        weights = [[chance.randrange(m) for _ in varied] for _ in range(words)]
        cases = np.flatnonzero((np.array(weights) @ numbers % m == 0).all(axis=0))
        if len(cases) == runs:
            fractions.append([int(case) for case in cases])
    return fractions


def _exchange(basis: Matrix, start: Sequence[int], prior: Matrix) -> list[int]:
    """Swap a chosen case for another one, the best swap first, until none gains; the first one stays."""
    chosen = np.zeros(len(basis), dtype=bool)
    chosen[list(start)] = True
    rows = basis[chosen]
    # the covariances of predictions: a swap multiplies the determinant by (1 + v_new)(1 − v_old) + cov²
    spread = basis @ np.linalg.solve(rows.T @ rows + np.diag(prior), basis.T)
    while True:
        old, new = np.flatnonzero(chosen)[1:], np.flatnonzero(~chosen)
        if not (old.size and new.size):
            break
        variance = spread.diagonal()
        gain = np.outer(1 - variance[old], 1 + variance[new]) + spread[np.ix_(old, new)] ** 2
        best = int(np.argmax(np.round(gain, 9)))
        if gain.flat[best] <= 1 + LEAST_GAIN:
            break
        out, into = old[best // len(new)], new[best % len(new)]
        spread -= np.outer(spread[:, into], spread[into]) / (1 + spread[into, into])
        spread += np.outer(spread[:, out], spread[out]) / (1 - spread[out, out])
        chosen[out], chosen[into] = False, True
    return [int(index) for index in np.flatnonzero(chosen)]
