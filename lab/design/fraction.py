"""Choose cases of a large grid: a seeded D-optimal fraction, and what it leaves confounded.

The model of the logarithm of a speed has a constant, all main effects and all two-way interactions, in sum-to-zero
coding. Factors map a name to its level in each case.
"""

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lab.design.factors import ABSENT, can_be_combined

Matrix: TypeAlias = npt.NDArray[np.float64]
Factors: TypeAlias = Mapping[str, Sequence[object]]

MOST_STARTS = 40  # random starts of the exchange; the best end is taken
EFFORT = 10**6  # large grids get fewer starts: the time of an exchange grows with the square of the cases
REGULAR_TRIES = 300  # random regular fractions
VAGUE = 1e-6  # prior precision of what has to be estimated: just enough to invert the matrix
RANK_TOLERANCE = 1e-7  # of singular values, for columns with a mean square of about 1
LEAST_GAIN = 1e-6  # of an exchange; a smaller one is rounding
CONFOUNDED = 0.3  # the least correlation of confounded effects


def model_terms(factors: Factors) -> dict[str, Matrix]:
    """The columns of each main effect and then each two-way interaction, by name (``mtu:tcp_space``), a row per case.

    Factors with one level have none. An option has its effect within its protocol, tool or store.
    """
    main = {name: _contrasts(levels) for name, levels in factors.items() if len(set(levels) - {ABSENT}) > 1}
    pairs = {
        f"{one}:{other}": (main[one][:, :, None] * main[other][:, None, :]).reshape(len(main[one]), -1)
        for one, other in itertools.combinations(main, 2)
        if can_be_combined(one, other, factors)
    }
    return main | pairs


def _contrasts(levels: Sequence[object]) -> Matrix:
    """Sum-to-zero coding: a column for each level except the last, which is −1 in all; ABSENT is 0 in all."""
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
    """The indices of ``runs`` distinct cases, in order. The first case, the baseline, is always chosen.

    Maximises the determinant of the information matrix by Fedorov's exchange from several random starts (Fedorov 1972,
    Theory of Optimal Experiments, section 3.2). With too few runs for all two-way interactions, these get a prior of
    the size of a main effect (DuMouchel and Jones 1994, Technometrics 36, 37-47). Then the result that tells most about
    the main effects is taken. The grid may be incomplete: columns that it cannot tell apart count once.
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

    chance = random.Random(f"fraction/{seed}")  # noqa: S311 – reproducible from the seed
    most_starts = min(MOST_STARTS, max(2, EFFORT // count**2))
    starts = [[0, *chance.sample(range(1, count), runs - 1)] for _ in range(most_starts)]
    ends = [_exchange(both, start, prior) for start in starts]
    return max(ends + _regular_fractions(factors, runs, chance), key=merit)


def efficiency(factors: Factors, chosen: Sequence[int]) -> float:
    """The D-efficiency: the ratio, choice to grid, of det(X'X / n) to the power of 1 / columns; 0 for a lost effect."""
    both = _bases(model_terms(factors), len(next(iter(factors.values()))))[1]
    rows = both[list(chosen)]
    if _rank(rows) < both.shape[1]:
        return 0.0
    return float(np.exp(np.linalg.slogdet(rows.T @ rows / len(rows))[1] / both.shape[1]))


def not_estimable(factors: Factors, chosen: Sequence[int]) -> list[str]:
    """The effects that the choice tells less of than the grid. Main effects stay apart from each other."""
    grid = model_terms(factors)
    rows = {name: columns[list(chosen)] for name, columns in grid.items()}
    return [name for name in grid if _degrees_of_freedom(rows, name) < _degrees_of_freedom(grid, name)]


def aliases(factors: Factors, chosen: Sequence[int], name: str) -> list[tuple[str, float]]:
    """The two-way interactions confounded with an effect, each with its correlation, the largest first; 1 is wholly.

    The correlation is the largest canonical one over the chosen cases, beside the constant and, for an interaction, the
    main effects. Only those of CONFOUNDED or more are named.
    """
    rows = {term: columns[list(chosen)] for term, columns in model_terms(factors).items()}
    beside = [np.ones((len(chosen), 1)), *(rows[term] for term in rows if ":" in name and ":" not in term)]
    fitted = _orthonormal_basis(np.hstack(beside))
    effect = _orthonormal_basis(_residuals(rows[name], fitted))
    correlations: dict[str, float] = {}
    for term in rows:
        if ":" in term and term != name:
            cosines = effect.T @ _orthonormal_basis(_residuals(rows[term], fitted))
            correlations[term] = float(np.linalg.norm(cosines, 2)) if cosines.size else 0.0
    strong = [(term, min(1.0, value)) for term, value in correlations.items() if round(value, 9) >= CONFOUNDED]
    return sorted(strong, key=lambda alias: -round(alias[1], 9))


def _bases(terms: Mapping[str, Matrix], count: int) -> tuple[Matrix, Matrix]:
    """Orthogonal columns, of mean square 1, that span the constant and main effects, and interactions, too."""
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
    """The columns less their projection on the orthonormal columns ``fitted``."""
    return columns - fitted @ (fitted.T @ columns)


def _orthonormal_basis(columns: Matrix) -> Matrix:
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
    """The log determinant, rounded: the last digits differ between machines, and must not decide."""
    return round(float(np.linalg.slogdet(information)[1]), 6)


def _regular_fractions(factors: Factors, runs: int, chance: random.Random) -> list[list[int]]:
    """Random regular fractions, if the grid is complete and each varied factor has m levels.

    These are the classic 2^(k−p) and 3^(k−p): cases in which sums of some level numbers are 0 modulo the prime m. For
    many factors, the exchange alone rarely finds one.
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
    """Swap a chosen case, but never the first, for another, the best swap first, until no swap gains."""
    chosen = np.zeros(len(basis), dtype=bool)
    chosen[list(start)] = True
    rows = basis[chosen]
    # Covariances of predictions: a swap multiplies the determinant by (1 + v_new)(1 − v_old) + cov²
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
