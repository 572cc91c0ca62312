"""Steps in a series of numbers, and the history of a share over its runs, which is made of such steps or of a drift."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.robust.scale import qn_scale
from support.runs_to_compare import write_history, write_saved_run
from support.synthetic_frames import KEY, points, resembling, scattered, speed_history_of, white

from lab.results.saved_runs import SavedRun, read_saved_runs
from lab.stats import change_points
from lab.stats.change_points import best_split, by_level, correlation, criterion, cut, scatter
from lab.stats.intervals import Floats
from lab.stats.speed_histories import LEAST_REFERENCE, Point, p_of_change, speed_histories, speed_history


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
    every_step = cut(white(1, 60) + 8 * levels((20, 0), (15, -1), (25, 1)), np.ones(60), 0.05)
    assert every_step == [0, 20, 35]


def test_the_p_value_is_the_share_of_all_orders_that_part_as_well_if_points_are_enough() -> None:
    """Ten points have few orders that part as perfectly as five low before five high: each is counted."""
    values = levels((5, 0), (5, 1)) + 0.001 * np.arange(10) * (-1) ** np.arange(10)
    split = best_split(values, np.ones(10))
    assert list(split.at) == [5]
    share = 2 / math.comb(10, 5)
    assert split.p == pytest.approx(share, abs=3 / np.sqrt(change_points.PERMUTATIONS) * np.sqrt(share))
    few = best_split(levels((5, 0), (change_points.LEAST_POINTS - 6, 1)), np.ones(change_points.LEAST_POINTS - 1))
    assert (np.isnan(few.p), few.at) == (True, [])
    assert best_split(np.ones(12), np.ones(12)).p == 1


def test_neither_points_that_count_little_nor_odd_ones_decide_anything_and_odd_ones_hide_no_step() -> None:
    # the last third is lower, and hardly known: as points like the others they would be a step
    values, weights = white(3, 24) - 3 * levels((16, 0), (8, 1)), levels((16, 1), (8, 0.01))
    assert best_split(values, np.ones(24)).p < 0.01
    assert best_split(values, weights / weights.mean()).p > 0.05
    odd = -100 * (np.arange(30) % 7 == 0)
    assert best_split(white(2, 30) + odd, np.ones(30)).p > 0.05
    assert best_split(white(2, 30) + odd - 5 * levels((20, 0), (10, 1)), np.ones(30)).p < 0.05


@given(st.lists(st.floats(-1e3, 1e3), min_size=10, max_size=25))
def test_levels_are_long_enough_whatever_the_values(numbers: list[float]) -> None:
    values = np.array(numbers)
    begins = cut(values, np.ones(len(values)), 0.05)
    assert begins[0] == 0
    assert min(np.diff([*begins, len(values)])) >= change_points.LEAST_LEVEL
    split = best_split(values, np.ones(len(values)))
    assert 0 < split.p <= 1
    assert split == best_split(values, np.ones(len(values)))


def test_what_is_alike_is_measured_and_no_change_makes_points_alike() -> None:
    for shape in (levels((15, 0), (12, -10), (15, 10)), np.linspace(0, 30, 42), levels((20, 0), (22, 10))):
        assert np.mean([change_points.likeness(white(seed, 42) + shape) for seed in range(20)]) < 0.25
    assert np.mean([correlation(resembling(seed, 200, 0.5), 1) for seed in range(50)]) == pytest.approx(0.5, abs=0.04)
    assert np.mean([correlation(white(seed, 200), 1) for seed in range(50)]) < 0.06
    assert correlation(np.zeros(10), 1) == 0


def test_fits_are_compared_by_what_they_leave_and_what_they_cost() -> None:
    values = levels((5, 1.0), (5, 3.0))
    assert by_level(values, [0, 5], np.median).tolist() == by_level(values, [0, 5], np.mean).tolist() == values.tolist()
    residuals = values - by_level(values, [0], np.mean)
    of_both = values - by_level(values, [0, 5], np.mean)
    assert criterion(of_both, 3) < criterion(residuals, 1) < criterion(residuals, 2)


@pytest.mark.parametrize("n", [2, 3, 5, 6, 9, 10, 11, 25, 40, 41])
def test_the_scatter_is_the_standard_deviation_of_normal_numbers_and_qn(n: int) -> None:
    chance = np.random.default_rng(1)
    assert np.mean([scatter(chance.normal(0, 2, n)) for _ in range(2000)]) == pytest.approx(2, rel=0.05)
    values, correction = np.random.default_rng(n).normal(0, 1, n), n / (n + 1.4) if n % 2 else n / (n + 3.8)
    if n >= 10:  # with the correction for few numbers; statsmodels rounds the constant more
        assert scatter(values) == pytest.approx(qn_scale(values) * correction, rel=2e-3)


def test_neither_four_of_ten_odd_numbers_nor_a_single_one_decide_the_scatter() -> None:
    values = np.random.default_rng(1).normal(0, 1, 50)
    odd = np.where(np.arange(50) % 10 < 4, 1000.0, 0.0)
    assert scatter(values + odd) < 4 * scatter(values)
    assert np.isnan(scatter(np.ones(1)))
    assert scatter(np.ones(4)) == 0


def saved(results: Path) -> list[SavedRun]:
    return list(read_saved_runs(results, "nas").runs)


def test_a_step_has_its_place_and_an_interval_that_holds_it(tmp_path: Path) -> None:
    write_history(tmp_path, [1.0] * 14 + [0.82] * 6)
    write, read = speed_histories(saved(tmp_path))
    assert [row.at["direction"] for row in (write, read)] == ["write", "read"]
    for row in (write, read):
        (step,) = row.steps
        assert (step.at, row.begins, row.is_drift) == (14, [0, 14], False)
        assert step.change[1] < -18 < step.change[2]
        assert row.p < 0.05
    medians = [write.median_of(write.level(0)), write.median_of(write.level(-1))]
    assert medians == pytest.approx([110, 0.82 * 110], rel=0.02)


def test_runs_scatter_more_than_the_trials_inside_one(tmp_path: Path) -> None:
    write_history(tmp_path, [1.0] * 20, between=0.04, inside=0.005)
    write, _ = speed_histories(saved(tmp_path))
    assert write.between_pct == pytest.approx(4, abs=2)
    assert write.within_pct == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_a_drift_is_a_trend_and_no_steps_and_steps_are_no_drift(seed: int) -> None:
    drifting = speed_history_of(scattered(1, 40) * np.linspace(1, 0.8, 40))
    assert (drifting.is_drift, drifting.steps, drifting.begins) == (True, [], [0])
    assert drifting.over_all[1] < -20 < drifting.over_all[2]
    assert drifting.newest == drifting.over_all
    assert drifting.trend[0] == pytest.approx(100 * (0.8 ** (30 / 39) - 1), abs=2)
    steady = speed_history_of(scattered(seed, 30))
    assert (steady.begins, steady.steps, steady.is_drift) == ([0], [], False)
    two_steps = speed_history_of(scattered(1, 42) * np.repeat([1.0, 0.9, 1.1], 14))
    assert two_steps.begins == [0, 14, 28]
    assert [step.change[0] for step in two_steps.steps] == pytest.approx([-10, 22], abs=3)


def test_the_newest_run_is_compared_with_the_level_that_lasted_longest() -> None:
    speeds = scattered(1, 26) * np.repeat([1.0, 0.8], [20, 6])
    slower = speed_history_of(speeds)
    assert (slower.begins, slower.reference) == ([0, 20], range(20))
    assert slower.newest[0] == pytest.approx(100 * (speeds[-1] / np.exp(np.median(np.log(speeds[:20]))) - 1))
    assert slower.newest[2] < -10
    usual = speed_history_of(scattered(1, 41) * np.repeat([1.0, 0.8], [20, 21]))  # after more slow runs slow is usual
    assert usual.reference == range(20, 40)
    assert usual.newest[1] < 0 < usual.newest[2]


def test_few_earlier_runs_do_not_say_what_is_usual() -> None:
    assert np.isnan(speed_history_of(scattered(1, LEAST_REFERENCE)).newest).all()
    assert np.isfinite(speed_history_of(scattered(1, LEAST_REFERENCE + 1)).newest).all()
    only = speed_history_of(scattered(1, 1))
    assert np.isnan([*only.newest, only.between_pct, only.p, *only.trend]).all()


def test_a_newest_run_that_is_less_certain_in_itself_has_a_wider_interval() -> None:
    made, days = points(scattered(1, 12)), np.arange(12.0)
    sure = speed_history(KEY, made, days, np.nan).newest
    unsure = speed_history(KEY, [*made[:-1], Point(11, 2, made[-1].median, np.nan, np.nan, 0.1)], days, np.nan).newest
    assert unsure[0] == sure[0]
    assert unsure[2] - unsure[1] > 1.2 * (sure[2] - sure[1])


def test_rows_share_the_chance_of_a_false_step(tmp_path: Path) -> None:
    """A change that is just beyond chance in one row by itself is none where four were looked at."""
    write_history(tmp_path, [1.0] * 6 + [0.9] * 6)
    alone = speed_histories(saved(tmp_path))
    by_itself = [p_of_change(row.points) for row in alone]
    expected = [min(1, 2 * min(by_itself)), max(2 * min(by_itself), max(by_itself))]
    assert [row.p for row in alone] == pytest.approx(expected)


def test_void_and_failed_trials_and_ceilings_are_in_no_median(tmp_path: Path) -> None:
    folder = write_saved_run(tmp_path, 0, trials=2)
    lines = folder.trials_path.read_text().splitlines()
    spoiled = lines[0].replace('"status": "ok"', '"status": "void"'), lines[1].replace('"smb"', '"link"')
    folder.trials_path.write_text("\n".join([*spoiled, *lines[2:]]) + "\n")
    write, read = speed_histories(saved(tmp_path))
    assert (write.points[0].n, read.points[0].n) == (1, 1)
