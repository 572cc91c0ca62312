"""When a run with a precision may stop: a rule that looks only at widths, and keeps the coverage of intervals.

Each effect has one number per block, and Student's interval over n blocks, ± t s / √n. "Stop as soon as it is narrow
enough" (Chow and Robbins 1965, Ann. Math. Stat. 36, 457-462) stops when s happens to be small, so that the interval is
too narrow; only very many blocks keep its level (Anscombe 1952, Proc. Camb. Phil. Soc. 48, 600-607). Fixing n from the
s of a first stage (Stein 1945, Ann. Math. Stat. 16, 243-258) is exact only with that s, which wastes all later blocks.
Asking for a smaller width only moves the ratio of noise to precision at which coverage is worst.

Here all intervals must be narrow enough at LOOKS looks in a row, one per block, after at least LEAST_BLOCKS blocks: a
chance dip of s does not last that long. In a simulation with normal noise of any size, coverage was 94 % or more of
nominal 95 %; `python benchmarks/coverage.py` prints it for this rule and the plain one.
"""

import math
from collections.abc import Sequence

INTERVAL_BLOCKS = 3  # the fewest for an interval of a mean: with two, Student's t is 12.7
LEAST_BLOCKS = 10
LOOKS = 8
COVERAGE = 0.95


def enough(blocks: int, narrow: Sequence[bool]) -> bool:
    """Whether to stop; ``narrow`` says for each of the last looks whether every interval was narrow enough."""
    return blocks >= LEAST_BLOCKS and len(narrow) >= LOOKS and all(narrow[-LOOKS:])


def half_width_factor(blocks: int) -> float:
    """The k of an interval of ± k s over these blocks: t / √n; infinite for fewer than 2."""
    return student_t(blocks - 1) / math.sqrt(blocks) if blocks > 1 else math.inf


def student_t(freedom: int) -> float:
    """The t for which Student's distribution with ``freedom`` ≥ 1 is within ± t with probability COVERAGE.

    Bisects the angle whose tangent is t / √freedom, without NumPy, whose import takes longer than a plan (for arrays:
    :func:`lab.stats.distributions.student_t`).
    """
    low, high = 0.0, math.pi / 2
    while low < (angle := (low + high) / 2) < high:
        low, high = (angle, high) if _probability_within(angle, freedom) < COVERAGE else (low, angle)
    return math.sqrt(freedom) * math.tan(angle)


def _probability_within(angle: float, freedom: int) -> float:
    """Student's probability within ± t: Abramowitz and Stegun 1972, 26.7.3 for odd and 26.7.4 for even freedom."""
    is_odd = freedom % 2 == 1
    if freedom == 1:
        return 2 * angle / math.pi
    term = total = math.cos(angle) if is_odd else 1.0
    for count in range(3 if is_odd else 2, freedom, 2):
        term *= (count - 1) / count * math.cos(angle) ** 2
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if is_odd else total
