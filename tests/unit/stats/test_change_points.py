import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawn_series import resembling, white

from lab.stats.change_points import (
    LEAST_LEVEL,
    LEAST_POINTS,
    PERMUTATIONS,
    best_split,
    correlation,
    criterion,
    cut,
    likeness,
    means_of,
    medians_of,
)
from lab.stats.intervals import Floats


def levels(*parts: tuple[int, float]) -> Floats:
    return np.concatenate([np.full(count, height) for count, height in parts])


@pytest.mark.parametrize("after", [3, 5, 10, 17])
def test_a_step_is_found_at_its_place(after: int) -> None:
    for seed in range(5):
        split = best_split(white(seed, 20) - 8 * levels((20 - after, 0), (after, 1)), np.ones(20))
        assert list(split.at) == [20 - after]


def test_a_stretch_in_the_middle_is_found_with_both_ends() -> None:
    split = best_split(white(1, 30) - 6 * levels((10, 0), (8, 1), (12, 0)), np.ones(30))
    assert list(split.at) == [10, 18]
    assert split.p < 0.05


def test_the_p_value_is_the_share_of_all_orders_that_part_as_well() -> None:
    """Ten points have few orders that part as perfectly as five low before five high: each is counted."""
    values = levels((5, 0), (5, 1)) + 0.001 * np.arange(10) * (-1) ** np.arange(10)
    split = best_split(values, np.ones(10))
    halves = list(itertools.combinations(range(10), 5))
    assert list(split.at) == [5]
    assert split.p == pytest.approx(2 / len(halves), abs=3 / np.sqrt(PERMUTATIONS) * np.sqrt(2 / len(halves)))


def test_too_few_points_have_no_p_value() -> None:
    split = best_split(levels((5, 0), (LEAST_POINTS - 6, 1)), np.ones(LEAST_POINTS - 1))
    assert np.isnan(split.p)
    assert split.at == []


def test_equal_points_do_not_part() -> None:
    assert best_split(np.ones(12), np.ones(12)).p == 1


def test_points_that_count_little_decide_nothing() -> None:
    """The last third is lower, and hardly known: as points like the others they would be a step."""
    values = white(3, 24) - 3 * levels((16, 0), (8, 1))
    assert best_split(values, np.ones(24)).p < 0.01
    weights = levels((16, 1), (8, 0.01))
    assert best_split(values, weights / weights.mean()).p > 0.05


def test_odd_points_neither_are_a_step_nor_hide_one() -> None:
    odd = -100 * (np.arange(30) % 7 == 0)
    assert best_split(white(2, 30) + odd, np.ones(30)).p > 0.05
    assert best_split(white(2, 30) + odd - 5 * levels((20, 0), (10, 1)), np.ones(30)).p < 0.05


def test_levels_are_cut_at_every_step() -> None:
    values = white(1, 60) + 8 * levels((20, 0), (15, -1), (25, 1))
    assert cut(values, np.ones(60), 0.05) == [0, 20, 35]


@given(st.lists(st.floats(-1e3, 1e3), min_size=10, max_size=25))
def test_levels_are_long_enough_whatever_the_values(numbers: list[float]) -> None:
    values = np.array(numbers)
    begins = cut(values, np.ones(len(values)), 0.05)
    assert begins[0] == 0
    assert min(np.diff([*begins, len(values)])) >= LEAST_LEVEL
    split = best_split(values, np.ones(len(values)))
    assert 0 < split.p <= 1
    assert split == best_split(values, np.ones(len(values)))


@pytest.mark.parametrize(
    "shape",
    [levels((15, 0), (12, -10), (15, 10)), np.linspace(0, 30, 42), levels((20, 0), (22, 10))],
    ids=["two steps", "drift", "step"],
)
def test_a_change_does_not_make_points_alike(shape: Floats) -> None:
    measured = [likeness(white(seed, 42) + shape) for seed in range(20)]
    assert np.mean(measured) < 0.25


def test_what_is_alike_is_measured() -> None:
    measured = [correlation(resembling(seed, 200, 0.5), 1) for seed in range(50)]
    assert np.mean(measured) == pytest.approx(0.5, abs=0.04)
    assert np.mean([correlation(white(seed, 200), 1) for seed in range(50)]) < 0.06
    assert correlation(np.zeros(10), 1) == 0


def test_fits_are_compared_by_what_they_leave_and_what_they_cost() -> None:
    values = levels((5, 1.0), (5, 3.0))
    assert medians_of(values, [0, 5]).tolist() == means_of(values, [0, 5]).tolist() == values.tolist()
    left = values - means_of(values, [0])
    assert criterion(left, 1) < criterion(left, 2)
    assert criterion(values - means_of(values, [0, 5]), 3) < criterion(left, 1)
