import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.robust.scale import qn_scale
from support.synthetic_frames import resembling, white

from lab.stats import change_points
from lab.stats.change_points import best_split, by_level, correlation, criterion, cut, scatter
from lab.stats.intervals import Floats


def levels(*parts: tuple[int, float]) -> Floats:
    return np.concatenate([np.full(count, height) for count, height in parts])


@pytest.mark.parametrize("after", [3, 5, 10, 17])
def test_a_step_and_both_ends_of_a_stretch_are_found(after: int) -> None:
    for seed in range(5):
        split = best_split(white(seed, 20) - 8 * levels((20 - after, 0), (after, 1)), np.ones(20))
        assert list(split.at) == [20 - after]
    stretch = best_split(white(1, 30) - 6 * levels((10, 0), (8, 1), (12, 0)), np.ones(30))
    assert list(stretch.at) == [10, 18]
    assert stretch.p < 0.05


def test_the_p_value_is_the_share_of_all_orders_that_part_as_well() -> None:
    """Ten points have few orders that part as perfectly as five low before five high: each is counted."""
    values = levels((5, 0), (5, 1)) + 0.001 * np.arange(10) * (-1) ** np.arange(10)
    split = best_split(values, np.ones(10))
    halves = list(itertools.combinations(range(10), 5))
    assert list(split.at) == [5]
    assert split.p == pytest.approx(
        2 / len(halves), abs=3 / np.sqrt(change_points.PERMUTATIONS) * np.sqrt(2 / len(halves))
    )


def test_too_few_points_have_no_p_value_and_equal_points_do_not_part() -> None:
    split = best_split(levels((5, 0), (change_points.LEAST_POINTS - 6, 1)), np.ones(change_points.LEAST_POINTS - 1))
    assert np.isnan(split.p)
    assert split.at == []
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
    assert min(np.diff([*begins, len(values)])) >= change_points.LEAST_LEVEL
    split = best_split(values, np.ones(len(values)))
    assert 0 < split.p <= 1
    assert split == best_split(values, np.ones(len(values)))


@pytest.mark.parametrize(
    "shape",
    [levels((15, 0), (12, -10), (15, 10)), np.linspace(0, 30, 42), levels((20, 0), (22, 10))],
    ids=["two steps", "drift", "step"],
)
def test_a_change_does_not_make_points_alike(shape: Floats) -> None:
    measured = [change_points.likeness(white(seed, 42) + shape) for seed in range(20)]
    assert np.mean(measured) < 0.25


def test_what_is_alike_is_measured() -> None:
    measured = [correlation(resembling(seed, 200, 0.5), 1) for seed in range(50)]
    assert np.mean(measured) == pytest.approx(0.5, abs=0.04)
    assert np.mean([correlation(white(seed, 200), 1) for seed in range(50)]) < 0.06
    assert correlation(np.zeros(10), 1) == 0


def test_fits_are_compared_by_what_they_leave_and_what_they_cost() -> None:
    values = levels((5, 1.0), (5, 3.0))
    assert by_level(values, [0, 5], np.median).tolist() == by_level(values, [0, 5], np.mean).tolist() == values.tolist()
    left = values - by_level(values, [0], np.mean)
    assert criterion(left, 1) < criterion(left, 2)
    assert criterion(values - by_level(values, [0, 5], np.mean), 3) < criterion(left, 1)


@pytest.mark.parametrize("n", [10, 11, 40, 41])
def test_the_scatter_is_qn_with_the_correction_for_few_numbers(n: int) -> None:
    values = np.random.default_rng(n).normal(0, 1, n)
    correction = n / (n + 1.4) if n % 2 else n / (n + 3.8)
    assert scatter(values) == pytest.approx(qn_scale(values) * correction, rel=2e-3)  # it rounds the constant less


@pytest.mark.parametrize("n", [2, 3, 5, 6, 9, 10, 25])
def test_the_scatter_is_the_standard_deviation_of_normal_numbers(n: int) -> None:
    chance = np.random.default_rng(1)
    assert np.mean([scatter(chance.normal(0, 2, n)) for _ in range(2000)]) == pytest.approx(2, rel=0.05)


def test_neither_four_of_ten_odd_numbers_nor_a_single_one_decide_the_scatter() -> None:
    values = np.random.default_rng(1).normal(0, 1, 50)
    odd = np.where(np.arange(50) % 10 < 4, 1000.0, 0.0)
    assert scatter(values + odd) < 4 * scatter(values)
    assert np.isnan(scatter(np.ones(1)))
    assert scatter(np.ones(4)) == 0
