from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from support.drawn import footer, marks, png, row_names
from support.synthetic_frames import cases, noise, run
from support.synthetic_runs import make_trials, trial, write_run

from lab import stats
from lab.report import figures
from lab.report.figures import values
from lab.report.figures.files import svg_of
from lab.results import run_folder
from lab.results.run_folder import Trial

# the rest are in tests/breadth/report/test_figures_of_every_sweep.py
SWEEPS: dict[str, list[Trial]] = {
    "all failed": [trial(status="failed", elapsed_s=None, client_cpu_s=None, server_cpu_s=None)],
    "empty": [],
}
# what fonts, mathtext and XML take for something else
WORDS = ("$\\bad{$", "测试 🎉", "\x1b[2J\0")


def load(directory: Path, trials: Sequence[Trial], **run: Any) -> pd.DataFrame:
    return run_folder.load(write_run(directory, trials, **run).path)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return load(tmp_path_factory.mktemp("run"), make_trials())


@pytest.mark.parametrize("sweep", SWEEPS)
@pytest.mark.parametrize("name", figures.ALL)
def test_every_figure_draws_every_sweep(tmp_path: Path, sweep: str, name: str) -> None:
    figure = figures.ALL[name](load(tmp_path, SWEEPS[sweep]))
    assert png(figure).startswith(b"\x89PNG")
    assert figure.get_size_inches()[0] == 8


def inside(axes: Axes, places: np.ndarray[Any, Any]) -> bool:
    (left, right), (bottom, top) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
    return bool(((places >= (left, bottom)) & (places <= (right, top))).all())


def test_every_measured_trial_is_a_mark_within_the_axes(full: pd.DataFrame) -> None:
    measured = stats.transfers(full).dropna(subset="MB_per_s")
    counts = measured["direction"].value_counts()
    for axes, direction in zip(figures.throughput(full).axes, ("write", "read"), strict=True):
        assert len(marks(axes)) == counts[direction]
        assert inside(axes, marks(axes))
    for axes, side in zip(figures.cpu_cost(full).axes, ("client", "server"), strict=True):
        assert len(marks(axes)) == measured[f"{side}_cpu_s_per_GB"].notna().sum()
        assert inside(axes, marks(axes))
    speed, drift = figures.timeline(full).axes
    assert len(marks(speed)) == full["MB_per_s"].notna().sum()
    assert len(marks(drift)) == stats.from_own_case(full).count()
    assert inside(speed, marks(speed))
    assert inside(drift, marks(drift))


def test_bars_are_the_shares_and_small_ones_are_one_bar() -> None:
    of = cases(mtu=[1500, 9000], tcp_space=["default", 65536], tool=["cp", "rsync"], store=["ram", "disk"])
    trials = run(of, noise(np.random.default_rng(1), of, 5) + 0.5 * (of["tool"] == "rsync").to_numpy()[:, None])
    table = stats.shares(stats.grid(trials)).table.set_index("term")["share"]
    axes = figures.shares(trials).axes[0]
    labels = row_names(axes)
    bars = {name: bar.get_width() / 100 for name, bar in zip(labels, axes.containers[0], strict=True)}
    terms = table.drop([stats.BLOCK, stats.REST])
    small = terms[terms < 0.01]
    assert len(small) > 2
    assert bars.pop(f"{len(small)} others, each below 1 %") == pytest.approx(small.sum())
    expected = {stats.term_label(str(term)): share for term, share in table.drop(small.index).items()}
    assert bars == pytest.approx(expected)


def test_each_block_has_its_own_ceiling(tmp_path: Path) -> None:
    links = [
        trial(trial_id=f"l{block}", case_id="link", block=block, protocol="link", tool="iperf3", elapsed_s=elapsed)
        for block, elapsed in ((1, 4.0), (2, 4.4), (3, 5.0))
    ]
    trials = load(tmp_path, [trial(), *links])
    (axes,) = figures.throughput(trials).axes
    drawn = {
        round(float(start[0]), 6)
        for some in axes.collections
        if isinstance(some, LineCollection)
        for start, _ in some.get_segments()
    }
    assert {round(speed, 6) for speed in trials.query("protocol == 'link'")["MB_per_s"]} <= drawn


def test_the_load_of_others_stands_under_the_timeline(tmp_path: Path) -> None:
    observed = [
        {"block": 1, "client": 0.31, "server": 0.02},
        {"block": 3, "client": 1.5},
    ]
    trials = load(tmp_path, make_trials(combinations=[("afp", "cp")]), load=observed)
    below = figures.timeline(trials).axes[2]
    lines = [some for some in below.collections if isinstance(some, LineCollection)]
    heights = [[segment[0][1] for segment in some.get_segments() if len(segment)] for some in lines]
    assert heights == [[0.31, 1.5], [0.02]]
    assert below.get_ylim()[1] > 1.5
    assert below.get_ylabel() == "cores used\nby others"


def test_anchors_have_a_ring(full: pd.DataFrame) -> None:
    first = full[full["protocol"] != "link"].drop_duplicates("block")
    both = pd.concat([full, first.assign(anchor=True)], ignore_index=True)
    both.attrs = full.attrs
    without, ringed = (figures.timeline(trials) for trials in (full, both))
    assert sum(np.size(line.get_xdata()) for line in ringed.axes[0].lines if line.get_marker() == "o") == 3
    assert "anchor" in [text.get_text() for text in ringed.legends[0].get_texts()]
    assert "anchor" not in [text.get_text() for text in without.legends[0].get_texts()]
    assert len(marks(figures.throughput(both).axes[0])) == len(marks(figures.throughput(full).axes[0]))


def test_a_void_trial_moves_no_median_and_does_not_squeeze_the_axis(tmp_path: Path) -> None:
    good = [trial(trial_id=str(number), block=number, elapsed_s=5 + number / 100) for number in range(3)]
    cached = trial(trial_id="cached", status="void", elapsed_s=0.05)
    before, after = (
        figures.throughput(load(tmp_path, trials)).axes[0] for trials in (good, [*good, cached])
    )  # fmt: skip
    assert after.get_xlim() == before.get_xlim()
    assert [text.get_text().strip() for text in after.texts if text.get_verticalalignment() == "center"] == ["1.07e+04"]
    assert len(marks(after)) == 4


@pytest.mark.parametrize("name", figures.ALL)
def test_nothing_lies_on_top_of_anything_else(full: pd.DataFrame, name: str) -> None:
    figure = figures.ALL[name](full)
    figure.draw_without_rendering()
    assert figure.get_size_inches()[0] == 8
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    boxes += [figure.legends[0].get_window_extent(), footer(figure).get_window_extent()]
    for number, box in enumerate(boxes):
        assert box is not None
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1 + 1
        assert not any(box.overlaps(other) for other in boxes[:number] if other is not None)
    figure.set_layout_engine("none")  # all has its place by now
    assert png(figure).startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def titled(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """A run of nothing and one of a trial: its payload, and its frames of a local lab and of two machines."""
    path, title = tmp_path_factory.mktemp("titled"), "box_1 at $1 & $2 {"
    return [
        (payload, *(load(path, trials, title=title, instance=instance) for instance in ("demo", None)))  # type: ignore[misc]
        for payload, trials in (("", []), ("file of 512 MiB · ", [trial()]))
    ]


@pytest.mark.parametrize("name", figures.ALL)
def test_the_footer_says_where_the_numbers_come_from(
    titled: list[tuple[str, pd.DataFrame, pd.DataFrame]], name: str
) -> None:
    for payload, lab, real in titled:
        sources = footer(figures.ALL[name](lab)).get_text()
        assert sources.startswith("local lab, box_1 at $1 & $2 {")
        assert f"synthetic-client → synthetic-server · 2030-01-02 · {payload}n = " in sources
        assert "local lab" not in footer(figures.ALL[name](real)).get_text()


@pytest.fixture(scope="module")
def worded(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """A run whose protocols, tools, payloads and title are WORDS."""
    trials = [
        one
        for at, words in enumerate(WORDS)
        for one in (
            trial(trial_id=f"{at}a", protocol=words, tool=words),
            trial(trial_id=f"{at}b", mtu=9000, workload=words),
        )
    ]
    return load(tmp_path_factory.mktemp("worded"), trials, title=" ".join(WORDS).replace("\0", ""))


@pytest.mark.parametrize("name", figures.ALL)
def test_free_text_is_drawn_as_it_is_and_without_a_warning(worded: pd.DataFrame, name: str) -> None:
    assert ElementTree.fromstring(svg_of(figures.ALL[name](worded), name)).tag.endswith("svg")


def test_a_character_that_no_font_has_is_a_box() -> None:
    assert values.drawable("é → \ue123\x1b\n") == "é → □□\n"


def test_a_frame_without_its_run_can_be_drawn_too(tmp_path: Path) -> None:
    joined = load(tmp_path, [trial()])
    joined.attrs.clear()
    assert footer(figures.throughput(joined)).get_text().startswith("file of 512 MiB · n = 1 ok")


def test_figures_open_nothing_global() -> None:
    assert "pyplot" not in vars(figures)


def test_trials_that_moved_names_alone_are_no_strips(tmp_path: Path) -> None:
    names = trial(tool="metadata", workload="names of tree mail, stat", size_bytes=5000, files=500)
    nothing = figures.throughput(load(tmp_path, [names]))
    shown = [text.get_text() for text in [*nothing.texts, *(text for axes in nothing.axes for text in axes.texts)]]
    assert any("only names were moved" in text for text in shown)
    both = [names, trial(trial_id="copy", case_id="copy", workload="tree mail")]
    for draw in (figures.throughput, figures.cpu_cost):
        rows = row_names(draw(load(tmp_path / draw.__name__, both)).axes[0])
        assert len(rows) == 1
        assert "metadata" not in rows[0]
