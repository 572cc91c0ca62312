"""The cases that may be the fastest, because no comparison within blocks shows them slower than the leader."""

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

MEASURED = ("direction", "workload")  # factors that nobody chooses for speed
WRONG = 0.05  # how often the truly fastest case may be missing


@dataclass(frozen=True)
class Leaders:
    """The ``tied`` ones of ``cases`` may be the fastest; both are places in the grid, the fastest on average first.

    ``at`` has their levels of MEASURED, ``blocks`` the number of blocks that measured any of them. With fewer than
    INTERVAL_BLOCKS, all cases are tied.
    """

    at: dict[str, Level]
    cases: npt.NDArray[np.intp]
    tied: npt.NDArray[np.intp]
    blocks: int


def leaders(grid: Grid) -> Iterator[Leaders]:
    """The leaders of each direction and payload that has a good trial.

    The case with the highest mean leads. Another case is out if its ratio to the leader in the same blocks is below 1.
    The test is a one-sided moderated t-test at WRONG over the number of other cases (Bonferroni). So the truly fastest
    case is tied in at least 95 % of such tables. Source: Gupta, On some multiple decision (selection and ranking)
    rules, 1965; Hsu, Multiple Comparisons, 1996, chapter 4.
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
    """The one-sided p-value of each row's mean being below 0; 1 where unknown."""
    means = t_means(ratios)
    # rows in another whole plot than the leader are moderated by one another only: they have the noise between plots
    moderated = moderate(ratios, means, is_elsewhere.astype(np.intp))
    return np.where(np.isfinite(moderated.p) & (means.mean < 0), moderated.p / 2, 1.0)
