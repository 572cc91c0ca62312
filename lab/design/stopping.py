"""When a run that is to reach a precision may stop: a rule that looks at widths only, and keeps intervals honest.

Each effect has one number a block, and Student's interval over n blocks, ± t s / √n. "Stop as soon as it is narrow
enough" stops when s happens to be small, so that the interval left behind is too narrow. It is the rule of Chow and
Robbins 1965 (Ann. Math. Stat. 36, 457-462), which keeps its level for very many blocks only (see Anscombe 1952, Proc.
Camb. Phil. Soc. 48, 600-607). To fix n from the s of a first stage (Stein 1945, Ann. Math. Stat. 16, 243-258) is exact
for an interval from that s, which wastes all later blocks; with the s of all blocks it misses as much. To ask for a
smaller width than the precision only moves the ratio of noise to precision at which it is worst.

Here all intervals have to be narrow enough at LOOKS looks in a row, one look a block, and there are LEAST_BLOCKS
blocks at least. A chance dip of s does not last that long. Both numbers kept 94 % or more of nominal 95 % with normal
noise of any size in a simulation; `python benchmarks/coverage.py` prints what this rule and the plain one cover.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

INTERVAL_BLOCKS = 3  # the fewest that an interval of a mean is over: of two, Student's t is 12.7, and says nothing
LEAST_BLOCKS = 10
LOOKS = 8
COVERAGE = 0.95


def enough(blocks: int, narrow: Sequence[bool]) -> bool:
    """Whether to stop after so many blocks; ``narrow`` says of the last looks if every interval was narrow enough."""
    return blocks >= LEAST_BLOCKS and len(narrow) >= LOOKS and all(narrow[-LOOKS:])


def half_width_factor(blocks: int) -> float:
    """The k of an interval of ± k s over that many blocks: t / √n; infinite for fewer than 2, which have none."""
    return student_t(blocks - 1) / math.sqrt(blocks) if blocks > 1 else math.inf


def student_t(freedom: int) -> float:
    """The t that Student's distribution of ``freedom`` ≥ 1 keeps within ± t with probability COVERAGE.

    By halving the angle whose tangent is t / √freedom, until no number lies between. Without NumPy, which takes
    longer to import than a plan takes to make (for arrays and fractions: :func:`lab.stats.distributions.student_t`).
    """
    low, high = 0.0, math.pi / 2
    while low < (angle := (low + high) / 2) < high:
        low, high = (angle, high) if _probability_within(angle, freedom) < COVERAGE else (low, angle)
    return math.sqrt(freedom) * math.tan(angle)


def _probability_within(angle: float, freedom: int) -> float:
    """Of Student's distribution between ± t: Abramowitz and Stegun 1972, 26.7.3 for odd and 26.7.4 for even freedom."""
    is_odd = freedom % 2 == 1
    if freedom == 1:
        return 2 * angle / math.pi
    term = total = math.cos(angle) if is_odd else 1.0
    for count in range(3 if is_odd else 2, freedom, 2):
        term *= (count - 1) / count * math.cos(angle) ** 2
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if is_odd else total
