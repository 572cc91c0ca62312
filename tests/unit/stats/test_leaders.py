from typing import Any

import numpy as np
import pandas as pd
from support.synthetic_frames import cases, noise, run

from lab import stats

OF = cases(protocol=["afp", "nfs", "smb"], mtu=[1500, 9000])
FASTER = np.array([0.0, 0.0, 0.0, 0.0, 0.5, 0.6])[:, None]  # SMB, and still more at MTU 9000


def leaders(logs: np.ndarray[Any, Any], of: pd.DataFrame = OF) -> stats.Leaders:
    (group,) = stats.leaders(stats.grid(run(of, logs)))
    return group


def test_the_one_that_is_faster_in_every_block_leads_alone_and_alike_ones_are_not_told_apart() -> None:
    logs = noise(np.random.default_rng(1), OF, 12) + FASTER
    group = leaders(logs)
    assert group.cases[0] == np.argmax(logs.mean(axis=1)) == 5
    assert (group.tied.tolist(), group.blocks) == ([5], 12)
    logs = noise(np.random.default_rng(2), OF, 6)
    logs[4:] += 0.5
    assert sorted(leaders(logs).tied) == [4, 5]


def test_blocks_that_differ_do_not_hide_who_leads() -> None:
    """The medians overlap, because blocks differ by far more than cases; within blocks they never do."""
    of = cases(protocol=["afp", "nfs"])
    logs = np.array([[0.0], [0.1]]) + np.linspace(0, 3, 8) + np.random.default_rng(1).normal(0, 0.01, (2, 8))
    assert leaders(logs, of).tied.tolist() == [1]


def test_too_few_blocks_and_equal_numbers_prove_nothing() -> None:
    for blocks in (1, 2):
        group = leaders(noise(np.random.default_rng(1), OF, blocks) + FASTER)
        assert (sorted(group.tied), group.blocks) == (list(range(6)), blocks)
    assert sorted(leaders(np.zeros((6, 4)) + FASTER).tied) == list(range(6))


def test_a_case_that_was_hardly_measured_is_not_told_apart_and_one_never_measured_is_none() -> None:
    logs = noise(np.random.default_rng(1), OF, 8) + FASTER
    logs[0, 1:] = logs[1] = np.nan
    group = leaders(logs)
    assert 0 in group.tied
    assert 1 not in group.cases
    of = cases(protocol=["afp", "nfs"])
    logs = np.array([[0.2], [0.0]]) + np.repeat([0, 1], 4) + np.random.default_rng(1).normal(0, 0.01, (2, 8))
    logs[1, :4] = np.nan  # measured in the good blocks only, which does not make it lead
    assert leaders(logs, of).cases[0] == 0


def test_directions_are_not_compared_with_one_another() -> None:
    of = cases(direction=["write", "read"], mtu=[1500, 9000])
    logs = noise(np.random.default_rng(1), of, 8) + np.array([[0.0], [0.3], [2.0], [2.3]])
    groups = list(stats.leaders(stats.grid(run(of, logs))))
    assert [group.at["direction"] for group in groups] == ["write", "read"]
    assert [group.tied.tolist() for group in groups] == [[1], [3]]
