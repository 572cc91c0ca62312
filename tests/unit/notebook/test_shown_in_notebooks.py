"""What the functions of notebooks show of runs."""

import importlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from support.observed_trials import blocks as measured_blocks
from support.observed_trials import read, seen, write_measured
from support.planted import EVIL
from support.rendered import Like, lacking
from support.synthetic_runs import make_trials, trial, write_run
from unit.report.test_page_of_a_run import COURSE, SECONDS

from lab import stats
from lab.base import shipped
from lab.base.errors import BadInput
from lab.notebook import answers_2011, blocks, compared, explore, open_chosen, open_two, self_check, why_slow
from lab.notebook.course_figure import NO_SAMPLES, course
from lab.notebook.opened import Opened
from lab.notebook.table import Stack, Table, Text
from lab.report.figures.files import png_of
from lab.report.tables import TextTable
from lab.results.published import read_published
from lab.stats.intervals import t_means
from lab.stats.precision import block_spreads, blocks_needed, half_width, wide_effects


@pytest.fixture(scope="module")
def example() -> Opened:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir("/")
        return open_chosen("example")


def test_without_a_name_it_is_the_newest_run_else_the_example(tmp_path: Path) -> None:
    assert open_chosen().name == "example"
    folder = write_run(tmp_path / "results", [trial()])
    assert open_chosen().name == folder.path.name
    assert open_chosen(default="example").name == "example"


def test_names_are_replaced_alike_in_two_runs_or_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = make_trials(2, combinations=[("afp", "cp")])
    titles = {"between nas-a and nas-b": ["nas-a", "nas-b"], "of nas-b alone": ["nas-b"]}
    paths = [write_run(tmp_path, trials, title=title, names={"host": hosts}).path for title, hosts in titles.items()]
    a, b = open_two(*paths)
    assert (a.run["title"], b.run["title"]) == ("between host-1 and host-2", "of host-2 alone")
    assert "nas-b" not in repr(compared.show_differences(compared.over(b, a)))
    monkeypatch.setenv("LAB_NAMES", "shown")
    assert open_two(*paths)[1].run["title"] == "of nas-b alone"
    monkeypatch.setenv("LAB_RUN", "example")
    with pytest.raises(BadInput, match="example: a comparison needs two runs"):
        open_two()


def test_whatever_a_host_wrote_is_escaped() -> None:
    table = Table(TextTable(["", EVIL], [["a", EVIL]], EVIL), EVIL)
    for shown in (table, Table(table.table, EVIL, folded=True), Text(EVIL), Stack([table, Text(EVIL)])):
        html = shown._repr_html_()
        assert "<script" not in html
        assert "\x1b" not in html + repr(shown)


def test_figures_of_a_stack_are_pictures_with_their_titles(example: Opened) -> None:
    html = Stack(explore.show_factor(example, "tool"))._repr_html_()
    picture, other_factor = 'alt="What a setting changes" width="800" src="data:image/png;base64,', "64 KiB → 512 KiB"
    assert lacking(html, picture, "cp → rsync", other_factor) == [other_factor]


def test_every_case_has_its_verdict_and_its_trials(example: Opened) -> None:
    for case in explore.cases_to_pick(example).values():
        verdict, trials = explore.show_case(example, case)
        assert isinstance(verdict, Table)
        assert len(verdict.table.rows) == 1
        assert len(trials) == len(explore.trials_to_pick(example, case)) == 6  # type: ignore[arg-type]


def test_all_that_is_recorded_of_a_trial_is_shown(example: Opened) -> None:
    facts: dict[str, str] = {row[0]: row[1] for row in explore.trial_table(example, "b001-0001").rows}
    record = next(trial for trial in example.folder.trials() if trial.trial_id == "b001-0001")
    assert facts["MB_per_s"] == f"{record.size_bytes / (record.elapsed_s or 0) / 1e6:.6g}"
    assert facts["effective.client_mtu"] == "1500"
    assert float(facts["observed.tcp.mss"]) == json.loads(json.dumps(record.to_json()))["observed"]["tcp"]["mss"]
    assert "reason" not in facts


def test_a_run_that_the_client_alone_saw_is_shown(tmp_path: Path) -> None:
    run = open_chosen(write_measured(tmp_path, measured_blocks([seen(), read()], 3)).path)
    assert explore.factors_to_pick(run) == {}
    for parts in (explore.show_run(run), why_slow.show_limits(run), why_slow.show_stages(run)):
        assert Stack(parts)._repr_html_()
    assert blocks.noise(run).empty


def lines(axes: Axes) -> list[tuple[list[float], list[float]]]:
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]  # type: ignore[arg-type]


def test_the_course_is_what_was_sampled_and_a_trial_without_samples_says_so(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [trial(trial_id="one"), trial(trial_id="two")])
    assert why_slow.courses_to_pick(open_chosen(folder.path)) == {"one": "one"}
    folder.append_samples("two", COURSE)
    assert why_slow.courses_to_pick(open_chosen(folder.path)) == {"two": "two"}
    rates, busy, sent_again = course(folder, "two").axes
    assert lines(rates) == [(SECONDS[1:], [10.0, 30.0, 0.0]), (SECONDS[1:], [0.002, 0.002, 0.002])]
    assert lines(busy) == [(SECONDS[1:], [75.0, 50.0, 12.5]), (SECONDS[1:], [10.0, 20.0, 30.0])]
    assert lines(sent_again)[0] == ([0.0, 1.5], [0.0, 7.0])
    assert all(axes.get_ylim()[1] >= most for axes, most in ((rates, 30), (busy, 75), (sent_again, 7)))
    assert png_of(course(folder, "two")).startswith(b"\x89PNG")
    (axes,) = course(folder, "one").axes
    assert NO_SAMPLES in [text.get_text() for text in axes.texts]


@pytest.mark.parametrize(
    "line", ["[", '{"trial_id": "two", "client": 3}', f'{{"trial_id": "two", "client": "{EVIL!r}"}}']
)
def test_samples_that_no_lab_wrote_are_drawn_as_not_seen(tmp_path: Path, line: str) -> None:
    folder = write_run(tmp_path, [trial(trial_id="two")])
    folder.samples_path.write_text(line + "\n")
    assert png_of(course(folder, "two"))


def test_the_slips_are_the_eight_of_the_page_about_them() -> None:
    page = (shipped.PAGES / "explanation" / "tables-of-2011.md").read_text(encoding="utf-8").replace("−", "-")
    rows = answers_2011.show_slips().table.rows
    assert len(rows) == 8
    for *_, printed, right in rows:
        assert f"{right} %" in page
        assert printed in page


def test_every_published_figure_belongs_to_a_question_and_its_sweep_is_there() -> None:
    for figure in read_published():
        assert [q for q in answers_2011.QUESTIONS if figure.table.startswith(q.tables)], figure.table
    sweeps = [q.again.split()[2].rstrip("`") for q in answers_2011.QUESTIONS if q.again.startswith("`lab run")]
    assert set(sweeps) == {"blog-2011", "storage-2011", "storage-2011-disks", "storage-2015"} <= shipped.sweeps().keys()


def test_ones_own_figures_stand_beside_the_published_ones_where_there_are_any(example: Opened) -> None:
    by_text = {question.text: question for question in answers_2011.QUESTIONS}
    (beside,) = answers_2011.answer(by_text["AFP, SMB or NFS?"], example)
    printed, words = answers_2011.answer(by_text["Whole disks, or partitions?"], example)[1:]
    assert isinstance(beside, Table)
    assert isinstance(printed, Table)
    assert "own median" in beside.table.headings
    assert repr(words) == "example measured none of it. `lab run storage-2011-disks` asks the same of your hosts."


def test_a_run_with_an_effect_is_not_taken_for_one_without() -> None:
    """That the check can fail: intervals around another truth miss it."""
    other = stats.effects(self_check.made_up_run(np.random.default_rng(1), -30), ["placebo"])
    assert (other["high_pct"] < 0).all()


@pytest.mark.parametrize(("count", "total"), [(0, 40), (12, 240), (40, 40)])
def test_proportions_have_wilsons_interval(count: int, total: int) -> None:
    theirs = importlib.import_module("scipy.stats").binomtest(count, total).proportion_ci(method="wilson")
    words = self_check.proportion(pd.Series(np.arange(total) < count))
    assert words == Like(f"{count} of {total}: ...%, {100 * theirs.low:.1f} to {100 * theirs.high:.1f}")


def test_blocks_are_enough_where_the_run_itself_would_find_them_so(example: Opened) -> None:
    """The width after so many blocks is what the stopping rule of a run sees, all else alike."""
    spreads = block_spreads(example.trials)
    overall = spreads[spreads["is_overall"]]
    assert len(overall) == 5
    rows = (row for row in stats.rows_of(spreads) if row["effect"].startswith("tool"))
    widest = max(half_width(row["spread"], row["blocks"]) for row in rows)
    assert wide_effects(example.trials, ["tool"], widest * 1.0001) == []
    assert wide_effects(example.trials, ["tool"], widest * 0.9999) != []


@pytest.mark.parametrize("spread", [0.01, 0.05, 0.2])
def test_the_blocks_needed_are_the_fewest_that_are_enough(spread: float) -> None:
    needed = blocks_needed(spread, 0.03)
    assert needed is not None
    assert half_width(spread, needed) <= 0.03
    assert needed == stats.INTERVAL_BLOCKS or half_width(spread, needed - 1) > 0.03
    assert blocks_needed(spread, 1e-6, most=100) is None


def test_a_table_of_blocks_agrees_with_its_figure(example: Opened) -> None:
    noise = blocks.noise(example)
    assert noise["spread"].is_monotonic_decreasing
    table = blocks.table_of_blocks(noise, 0.03)
    axes = blocks.draw_widths(example, 0.03).axes[0]
    for line, needed in zip(axes.lines, table["blocks for ±3 %"], strict=False):
        x, y = np.array(line.get_xdata()), np.array(line.get_ydata())
        assert x[y <= 3][0] == needed
    assert table["by itself"].ge(10).all()


def test_the_power_of_a_run_grows_with_blocks_and_is_five_percent_of_nothing() -> None:
    power = blocks.power(0.05, [0.0, 0.03, 0.10], [6, 20])
    assert (np.abs(power.loc[["+0 %"]].to_numpy() - 5) <= 2).all()
    assert power["6 blocks"]["+10 %"] > 80
    assert (power["20 blocks"] >= power["6 blocks"] - 2).all()
    chance = np.random.default_rng(7)
    means = t_means(np.log1p(0.03) + 0.05 * chance.standard_normal((4000, 20)))
    assert power["20 blocks"]["+3 %"] == pytest.approx(100 * (np.abs(means.mean) > means.half).mean(), abs=4)
