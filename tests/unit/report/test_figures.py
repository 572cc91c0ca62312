"""The figures of a run: every trial a mark, effects on one axis of ratios, and what is left out is said."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from support.rendered import Like, footer, marks, png, row_names
from support.synthetic_frames import cases, noise, run
from support.synthetic_runs import RUN, make_trials, trial

from lab import stats
from lab.report import figures
from lab.report.figures import values
from lab.report.figures.files import svg_of
from lab.results import dataframe
from lab.results.run_folder import Trial

# the rest are in tests/breadth/report/test_figures_and_tables_of_every_run.py
SWEEPS: dict[str, list[Trial]] = {
    "all failed": [trial(status="failed", elapsed_s=None, client_cpu_s=None, server_cpu_s=None)],
    "empty": [],
}
# what fonts, mathtext and XML take for something else
WORDS = ("$\\bad{$", "测试 🎉", "\x1b[2J\0")


def load(trials: Sequence[Trial], **run: Any) -> pd.DataFrame:
    return dataframe.frame(trials, RUN | run)


@pytest.fixture(scope="module")
def full() -> pd.DataFrame:
    return load(make_trials())


@pytest.mark.parametrize("sweep", SWEEPS)
@pytest.mark.parametrize("name", figures.ALL)
def test_every_figure_draws_every_sweep(sweep: str, name: str) -> None:
    figure = figures.ALL[name](load(SWEEPS[sweep]))
    assert png(figure).startswith(b"\x89PNG")
    assert figure.get_size_inches()[0] == 8


def marks_inside(axes: Axes) -> int:
    """How many marks a panel has, all of them within its axes."""
    places = marks(axes)
    (left, right), (bottom, top) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
    assert ((places >= (left, bottom)) & (places <= (right, top))).all()
    return len(places)


def test_every_measured_trial_is_a_mark_within_the_axes(full: pd.DataFrame) -> None:
    measured = stats.transfers(full).dropna(subset="MB_per_s")
    counts, drifts = measured["direction"].value_counts(), stats.from_own_case(full)
    cpu = [measured[f"{side}_cpu_s_per_GB"].notna().sum() for side in ("client", "server")]
    assert list(map(marks_inside, figures.throughput(full).axes)) == [counts["write"], counts["read"]]
    assert list(map(marks_inside, figures.cpu_cost(full).axes)) == cpu
    assert list(map(marks_inside, figures.timeline(full).axes)) == [full["MB_per_s"].notna().sum(), drifts.count()]


def test_bars_are_the_shares_and_small_ones_are_one_bar() -> None:
    of = cases(mtu=[1500, 9000], tcp_space=["default", 65536], tool=["cp", "rsync"], store=["ram", "disk"])
    trials = run(of, noise(np.random.default_rng(1), of, 5) + 0.5 * (of["tool"] == "rsync").to_numpy()[:, None])
    table = stats.shares(stats.grid(trials)).table.set_index("term")["share"]
    axes = figures.shares(trials).axes[0]
    bars = {name: bar.get_width() / 100 for name, bar in zip(row_names(axes), axes.containers[0], strict=True)}
    terms = table.drop([stats.BLOCK, stats.REST])
    small = terms[terms < 0.01]
    assert len(small) > 2
    expected = {stats.term_label(str(term)): share for term, share in table.drop(small.index).items()}
    assert bars == pytest.approx(expected | {f"{len(small)} others, each below 1 %": small.sum()})


def segments(axes: Axes) -> list[Any]:
    """The segments of each set of lines."""
    return [some.get_segments() for some in axes.collections if isinstance(some, LineCollection)]


def test_each_block_has_its_own_ceiling() -> None:
    links = [
        trial(trial_id=f"l{block}", case_id="link", block=block, protocol="link", tool="iperf3", elapsed_s=elapsed)
        for block, elapsed in ((1, 4.0), (2, 4.4), (3, 5.0))
    ]
    trials = load([trial(), *links])
    (axes,) = figures.throughput(trials).axes
    places = {round(float(start[0]), 6) for lines in segments(axes) for start, _ in lines}
    assert {round(speed, 6) for speed in trials.query("protocol == 'link'")["MB_per_s"]} <= places


def test_the_load_of_others_stands_under_the_timeline() -> None:
    observed = [{"block": 1, "client": 0.31, "server": 0.02}, {"block": 3, "client": 1.5}]
    trials = load(make_trials(combinations=[("afp", "cp")]), load=observed)
    below = figures.timeline(trials).axes[2]
    heights = [[segment[0][1] for segment in lines if len(segment)] for lines in segments(below)]
    assert heights == [[0.31, 1.5], [0.02]]
    assert below.get_ylim()[1] > 1.5
    assert below.get_ylabel() == "cores used\nby others"


def test_anchors_have_a_ring(full: pd.DataFrame) -> None:
    first = full[full["protocol"] != "link"].drop_duplicates("block")
    both = pd.concat([full, first.assign(anchor=True)], ignore_index=True)
    both.attrs = full.attrs
    ringed = figures.timeline(both)
    assert sum(np.size(line.get_xdata()) for line in ringed.axes[0].lines if line.get_marker() == "o") == 3
    for figure, has_anchors in ((figures.timeline(full), False), (ringed, True)):
        assert ("anchor" in [text.get_text() for text in figure.legends[0].get_texts()]) == has_anchors
    assert len(marks(figures.throughput(both).axes[0])) == len(marks(figures.throughput(full).axes[0]))


def test_a_void_trial_moves_no_median_and_does_not_squeeze_the_axis() -> None:
    good = [trial(trial_id=str(number), block=number, elapsed_s=5 + number / 100) for number in range(3)]
    cached = trial(trial_id="cached", status="void", elapsed_s=0.05)
    before, after = (figures.throughput(load(trials)).axes[0] for trials in (good, [*good, cached]))
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


TITLE = "box_1 at $1 & $2 {"


@pytest.mark.parametrize(("payload", "trials"), [("", []), ("file of 512 MiB · ", [trial()])])
@pytest.mark.parametrize("name", figures.ALL)
def test_the_footer_says_where_the_numbers_come_from(payload: str, trials: list[Trial], name: str) -> None:
    runs = (load(trials, title=TITLE, instance=instance) for instance in ("demo", None))
    local, real = (footer(figures.ALL[name](run)).get_text() for run in runs)
    sources = f"synthetic-client → synthetic-server · 2030-01-02 · {payload}n = "
    assert local == Like(f"local lab, {TITLE}...{sources}...")
    assert "local lab" not in real


@pytest.mark.parametrize("name", figures.ALL)
def test_free_text_is_drawn_as_it_is_and_without_a_warning(name: str) -> None:
    """The protocols, tools, payloads and the title of a run are WORDS."""
    trials = [trial(trial_id=f"{at}a", protocol=words, tool=words) for at, words in enumerate(WORDS)]
    trials += [trial(trial_id=f"{at}b", mtu=9000, workload=words) for at, words in enumerate(WORDS)]
    figure = figures.ALL[name](load(trials, title=" ".join(WORDS).replace("\0", "")))
    assert ElementTree.fromstring(svg_of(figure, name)).tag.endswith("svg")


def test_a_character_that_no_font_has_is_a_box_and_figures_open_nothing_global() -> None:
    assert values.drawable("é → \ue123\x1b\n") == "é → □□\n"
    assert "pyplot" not in vars(figures)


def test_a_frame_without_its_run_can_be_drawn_too() -> None:
    joined = load([trial()])
    joined.attrs.clear()
    assert footer(figures.throughput(joined)).get_text().startswith("file of 512 MiB · n = 1 ok")


def test_trials_that_moved_only_names_are_no_strips() -> None:
    names = trial(tool="metadata", workload="names of tree mail, stat", size_bytes=5000, files=500)
    nothing = figures.throughput(load([names]))
    shown = [text.get_text() for text in [*nothing.texts, *(text for axes in nothing.axes for text in axes.texts)]]
    assert any("only names were moved" in text for text in shown)
    both = [names, trial(trial_id="copy", case_id="copy", workload="tree mail")]
    for draw in (figures.throughput, figures.cpu_cost):
        (row,) = row_names(draw(load(both)).axes[0])
        assert "metadata" not in row


def forest(figure: Figure) -> dict[str, tuple[float, bool]]:
    """The place of the mean of each row, by the row's number and name, and whether its mark is filled."""
    (axes,) = figure.axes
    means = {
        int(place): (float(mean), line.get_markerfacecolor() != "white")
        for line in axes.lines
        if line.get_marker() in ("D", "<", ">", "o")
        for mean, place in np.column_stack([line.get_xdata(), line.get_ydata()])
    }
    names = dict(enumerate(row_names(axes)))
    assert means.keys() == names.keys()
    return {f"{place} {name}": means[place] for place, name in names.items()}


def wide(rng_seed: int = 1, blocks: int = 5) -> pd.DataFrame:
    of = cases(tool=["cp", "rsync"], mtu=[1500, 9000], tcp_space=["default", 65536])
    change = 0.1 * (of["mtu"] == 9000) - 0.7 * (of["tool"] == "rsync") + 0.3 * (of["tcp_space"] == 65536)
    return run(of, noise(np.random.default_rng(rng_seed), of, blocks) + change.to_numpy()[:, None])


def test_effects_lie_on_one_axis_of_ratios_the_largest_overall_row_first() -> None:
    trials = wide()
    table = stats.effects(stats.grid(trials))
    rows = forest(figures.effects(trials))
    overall = [name.split(" ", 1)[1] for name in rows if "→" in name]
    assert overall == ["tool cp → rsync", "TCP buffer default → 64 KiB", "MTU 1500 → 9000"]
    assert next(iter(rows)) == "0 tool cp → rsync"
    assert sorted(mean for mean, _ in rows.values()) == pytest.approx(sorted(np.log(table["ratio"])))
    is_filled = {round(mean, 9): filled for mean, filled in rows.values()}
    logs = np.log(table["ratio"].to_numpy()).round(9)
    assert is_filled == dict(zip(logs.tolist(), table["established"], strict=True))


def test_both_intervals_and_every_block_of_an_effect_are_drawn() -> None:
    trials = wide()
    table = stats.effects(stats.grid(trials))
    (axes,) = figures.effects(trials).axes
    thick, thin = [some for some in axes.collections if isinstance(some, LineCollection)]
    for lines, kind in ((thick, "moderated_"), (thin, "")):
        ends = np.array([[start[0], end[0]] for start, end in lines.get_segments()])
        expected = np.log1p(table[[f"{kind}low_pct", f"{kind}high_pct"]].to_numpy() / 100)
        np.testing.assert_allclose(np.sort(ends, axis=0), np.sort(expected, axis=0))
    assert thick.get_linewidth()[0] > 3 * thin.get_linewidth()[0]  # type: ignore[index]
    ratios = np.concatenate([row.log_ratios[0] for _, row in stats.block_effects(stats.grid(trials))])
    low, high = axes.get_xlim()
    np.testing.assert_allclose(
        np.sort(marks(axes)[:, 0]), np.sort(ratios[(ratios >= low) & (ratios <= high)]), atol=0.05
    )
    assert {"0", "-50", "+20"} <= {label.get_text() for label in axes.get_xticklabels()}


def test_interactions_are_one_plot_of_the_interaction() -> None:
    trials = wide(3)
    table = stats.interactions(stats.grid(trials))
    rows = forest(figures.interactions(trials))
    assert len(rows) == len(table)
    assert next(iter(rows)).startswith("0 MTU 1500 → 9000 with TCP buffer default → 64 KiB")
    assert sorted(mean for mean, _ in rows.values()) == pytest.approx(sorted(np.log1p(table["interaction_pct"] / 100)))


def test_very_many_comparisons_are_drawn_by_their_overall_rows_and_the_figure_says_so() -> None:
    of = cases(protocol=["afp", "nfs", "smb"], tool=["cp", "rsync"], direction=["write", "read"], mtu=range(1000, 1012))
    figure = figures.effects(run(of, noise(np.random.default_rng(1), of, 3)))
    names = row_names(figure.axes[0])
    assert len(names) == 25
    assert sum("→" in name for name in names) == 14
    assert "rows drawn: 25 of " in footer(figure).get_text()


def test_a_fraction_of_a_grid_has_its_effects_drawn() -> None:
    of = cases(protocol=["afp", "smb"], mtu=[1500, 9000], tcp_space=["default", 65536], store=["ram", "disk"])
    of = of[[row.count(row[0]) % 2 == 0 for row in zip(*(pd.factorize(of[name])[0] for name in of), strict=True)]]
    trials = run(of.reset_index(drop=True), noise(np.random.default_rng(1), of, 4))
    assert "model" in set(stats.effects(stats.grid(trials))["method"])
    png(figures.effects(trials))
