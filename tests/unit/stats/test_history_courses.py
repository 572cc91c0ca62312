from pathlib import Path

import numpy as np
import pytest
from support.runs_to_compare import write_history, write_saved_run
from support.synthetic_frames import KEY, course_of, points, scattered

from lab.results.saved_runs import SavedRun, read_saved_runs
from lab.stats.courses import LEAST_REFERENCE, Point, course, courses, p_of_change


def saved(results: Path) -> list[SavedRun]:
    return list(read_saved_runs(results, "nas").runs)


def test_a_step_has_its_place_and_an_interval_that_holds_it(tmp_path: Path) -> None:
    write_history(tmp_path, [1.0] * 14 + [0.82] * 6)
    write, read = courses(saved(tmp_path))
    assert [one.at["direction"] for one in (write, read)] == ["write", "read"]
    for one in (write, read):
        (step,) = one.steps
        assert (step.at, one.begins) == (14, [0, 14])
        assert step.change[1] < -18 < step.change[2]
        assert one.p < 0.05
        assert not one.is_drift
    assert write.median_of(write.level(0)) == pytest.approx(110, rel=0.02)
    assert write.median_of(write.level(-1)) == pytest.approx(0.82 * 110, rel=0.02)


def test_runs_scatter_more_than_the_trials_inside_one(tmp_path: Path) -> None:
    write_history(tmp_path, [1.0] * 20, between=0.04, inside=0.005)
    write, _ = courses(saved(tmp_path))
    assert write.between_pct == pytest.approx(4, abs=2)
    assert write.within_pct == pytest.approx(0.5, abs=0.1)


def test_a_drift_is_a_trend_and_no_steps() -> None:
    one = course_of(scattered(1, 40) * np.linspace(1, 0.8, 40))
    assert one.is_drift
    assert (one.steps, one.begins) == ([], [0])
    assert one.over_all[1] < -20 < one.over_all[2]
    assert one.newest == one.over_all
    assert one.trend[0] == pytest.approx(100 * (0.8 ** (30 / 39) - 1), abs=2)


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_history_has_one_level_and_two_steps_are_no_drift(seed: int) -> None:
    one = course_of(scattered(seed, 30))
    assert (one.begins, one.steps, one.is_drift) == ([0], [], False)
    one = course_of(scattered(1, 42) * np.repeat([1.0, 0.9, 1.1], 14))
    assert one.begins == [0, 14, 28]
    assert [step.change[0] for step in one.steps] == pytest.approx([-10, 22], abs=3)


def test_the_newest_run_is_compared_with_the_level_that_lasted_longest() -> None:
    speeds = scattered(1, 26) * np.repeat([1.0, 0.8], [20, 6])
    one = course_of(speeds)
    assert (one.begins, one.reference) == ([0, 20], range(20))
    assert one.newest[0] == pytest.approx(100 * (speeds[-1] / np.exp(np.median(np.log(speeds[:20]))) - 1))
    assert one.newest[2] < -10
    one = course_of(scattered(1, 41) * np.repeat([1.0, 0.8], [20, 21]))  # after more slow runs slow is usual
    assert one.reference == range(20, 40)
    assert one.newest[1] < 0 < one.newest[2]


def test_few_earlier_runs_do_not_say_what_is_usual() -> None:
    assert np.isnan(course_of(scattered(1, LEAST_REFERENCE)).newest).all()
    assert np.isfinite(course_of(scattered(1, LEAST_REFERENCE + 1)).newest).all()
    only = course_of(scattered(1, 1))
    assert np.isnan([*only.newest, only.between_pct, only.p, *only.trend]).all()


def test_a_newest_run_that_is_less_certain_in_itself_has_a_wider_interval() -> None:
    made = points(scattered(1, 12))
    days = np.arange(12.0)
    sure = course(KEY, made, days, np.nan).newest
    unsure = course(KEY, [*made[:-1], Point(11, 2, made[-1].median, np.nan, np.nan, 0.1)], days, np.nan).newest
    assert unsure[0] == sure[0]
    assert unsure[2] - unsure[1] > 1.2 * (sure[2] - sure[1])


def test_rows_share_the_chance_of_a_false_step(tmp_path: Path) -> None:
    """A change that is just beyond chance in one row by itself is none where four were looked at."""
    write_history(tmp_path, [1.0] * 6 + [0.9] * 6)
    alone = courses(saved(tmp_path))
    by_itself = [p_of_change(one.points) for one in alone]
    expected = [min(1, 2 * min(by_itself)), max(2 * min(by_itself), max(by_itself))]
    assert [one.p for one in alone] == pytest.approx(expected)


def test_void_and_failed_trials_and_ceilings_are_in_no_median(tmp_path: Path) -> None:
    folder = write_saved_run(tmp_path, 0, trials=2)
    lines = folder.trials_path.read_text().splitlines()
    spoiled = lines[0].replace('"status": "ok"', '"status": "void"'), lines[1].replace('"smb"', '"link"')
    folder.trials_path.write_text("\n".join([*spoiled, *lines[2:]]) + "\n")
    write, read = courses(saved(tmp_path))
    assert (write.points[0].n, read.points[0].n) == (1, 1)
