"""Which cases may be the fastest: those that no comparison within blocks tells apart from the one that leads."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lab.design.factors import NETWORK
from lab.stats.factors import Level
from lab.stats.intervals import Floats, t_means
from lab.stats.moderation import moderate
from lab.stats.speed_matrix import Grid
from lab.stats.two_way import two_way

MEASURED = ("direction", "workload")  # what is moved, and which way: nobody chooses one of them to be faster
WRONG = 0.05  # how often the case that is truly the fastest may be missing


@dataclass(frozen=True)
class Leaders:
    """The cases that may be the fastest of ``cases``, both as places in the grid, the fastest on average first.

    ``at`` are the levels of MEASURED that they share. ``blocks`` is the number of blocks in which any of them was
    measured; below INTERVAL_BLOCKS nothing is told apart, and all cases may be the fastest.
    """

    at: dict[str, Level]
    cases: npt.NDArray[np.intp]
    tied: npt.NDArray[np.intp]
    blocks: int


def leaders(grid: Grid) -> Iterator[Leaders]:
    """The leaders of each direction and payload that has a good trial.

    The case with the highest mean leads. Another one is out where its ratio to that one in the same blocks is below 1
    by a one-sided moderated t-test at WRONG over the number of cases beside the leader (Bonferroni). The truly fastest
    case is out only where a slower one beats it in such a test, so it stays in at least 95 % of such tables.
    Source: Gupta, On some multiple decision (selection and ranking) rules, 1965; Hsu, Multiple Comparisons, 1996,
    chapter 4.
    """
    measured = np.isfinite(grid.log_speed).any(axis=1)
    for codes in itertools.product(*(range(len(grid.levels[name])) for name in MEASURED)):
        at = [grid.code(name) == code for name, code in zip(MEASURED, codes, strict=True)]
        cases = np.flatnonzero(np.all([measured, *at], axis=0))
        if len(cases):
            levels = {name: grid.levels[name][code] for name, code in zip(MEASURED, codes, strict=True)}
            yield _leaders(grid, levels, cases)


def _leaders(grid: Grid, at: dict[str, Level], cases: npt.NDArray[np.intp]) -> Leaders:
    logs = grid.log_speed[cases]
    order = np.argsort(-two_way(logs)[0], kind="stable")
    best, *others = order
    is_out = np.zeros(len(cases), dtype=bool)
    if others:
        plot = np.array([grid.code(name)[cases] for name in NETWORK])
        is_elsewhere = (plot[:, others] != plot[:, [best]]).any(axis=0)
        is_out[others] = _p_slower(logs[others] - logs[best], is_elsewhere) < WRONG / len(others)
    return Leaders(at, cases[order], cases[order[~is_out[order]]], int(np.isfinite(logs).any(axis=0).sum()))


def _p_slower(ratios: Floats, is_elsewhere: npt.NDArray[np.bool_]) -> Floats:
    """How probable a mean as low as that of each row is where it is 0 in truth; 1 where that cannot be told.

    Rows lend one another what they say of the noise (:mod:`lab.stats.moderation`), but those in another whole plot
    than the leader (``is_elsewhere``) only to one another: their ratios have the noise of the change between the two.
    """
    means = t_means(ratios)
    moderated = moderate(ratios, means, is_elsewhere.astype(np.intp))
    p: Floats = np.where(np.isfinite(moderated.p) & (means.mean < 0), moderated.p / 2, 1.0)
    return p
