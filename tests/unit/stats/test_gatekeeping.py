import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from lab.stats.effect_ratios import adjust_by_gate

Rows = list[list[float]]


def rejected_at(level: float, tree: Rows) -> set[tuple[int, int]]:
    """The inheritance procedure as it is described, step by step: shares of the level are handed on until all rest."""
    done: set[tuple[int, int]] = set()
    while True:
        open_trees = [
            number for number, rows in enumerate(tree) if any((number, row) not in done for row in range(len(rows)))
        ]
        new = set()
        for number in open_trees:
            share = level / len(open_trees)
            below = [row for row in range(1, len(tree[number])) if (number, row) not in done]
            if (number, 0) not in done:
                new |= {(number, 0)} if tree[number][0] <= share else set()
            else:
                new |= {(number, row) for row in below if tree[number][row] <= share / len(below)}
        if not new:
            return done
        done |= new


def flat(tree: Rows) -> tuple[Any, Any]:
    return np.array([*itertools.chain(*tree)]), np.repeat(np.arange(len(tree)), [len(rows) for rows in tree])


P = st.sampled_from([1e-4, 5e-4, 1e-3, 4e-3, 8e-3, 0.012, 0.02, 0.03, 0.3])


@given(st.lists(st.lists(P, min_size=1, max_size=4), min_size=1, max_size=5), st.floats(1e-3, 0.2))
def test_a_row_is_below_the_level_where_the_procedure_rejects_it(tree: Rows, level: float) -> None:
    p, comparison = flat(tree)
    adjusted = adjust_by_gate(p, comparison)
    names = [(number, row) for number, rows in enumerate(tree) for row in range(len(rows))]
    if not np.isclose(adjusted, level, rtol=1e-9).any():
        assert {name for name, value in zip(names, adjusted, strict=True) if value <= level} == rejected_at(level, tree)


def test_overall_rows_alone_are_holms() -> None:
    p = np.random.default_rng(1).uniform(0, 0.05, 20)
    np.testing.assert_allclose(adjust_by_gate(p, np.arange(20)), multipletests(p, method="holm")[1])


def test_no_row_is_established_before_its_overall_row() -> None:
    adjusted = adjust_by_gate(np.array([0.04, 1e-9, 0.2, 1e-9]), np.array([0, 0, 1, 1]))
    assert adjusted[:2] == pytest.approx([0.08, 0.08])
    assert adjusted[2:] == pytest.approx([0.2, 0.2])  # the first comparison is done before, and hands its level on


def test_rows_without_a_test_count_for_nothing() -> None:
    adjusted = adjust_by_gate(np.array([np.nan, 0.01, 0.02, np.nan, 0.03]), np.array([0, 0, 1, 1, 1]))
    assert np.isnan(adjusted[[0, 1, 3]]).all()
    assert adjusted[[2, 4]] == pytest.approx([0.02, 0.03])
    assert adjust_by_gate(np.array([]), np.array([], dtype=int)).size == 0
