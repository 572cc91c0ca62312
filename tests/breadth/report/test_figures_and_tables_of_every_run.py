"""Every figure and table of runs of many shapes; unit tests have the most frequent ones."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.observed_trials import LACKING, MEASURES, assert_shown_in_full
from support.paths import CAPTURED_RUNS, unpack_run
from support.rendered import png, rendered
from support.synthetic_runs import make_trials, trial, write_run

from lab import stats
from lab.report import figures, registry, terminal
from lab.report.analysis import Analysis
from lab.report.figures.files import svg_of
from lab.report.fitted_table import FittedTable
from lab.results import run_folder
from lab.results.run_folder import Trial

LEAST, MOST = 1e-9, 2**63 - 1
SWEEPS: dict[str, list[Trial]] = {
    "one level of everything": make_trials(1, (1500,), ("default",), [("afp", "cp")]),
    "many levels": make_trials(2, (1500, 4000, 9000), ("default", 65536, 1 << 20), [("nfs", "cp"), ("ssh", "rsync")]),
    "missing protocols": make_trials(2, combinations=[("smb", "rsync")]),
    "ram and disk": [trial(trial_id=store, store=store) for store in ("ram", "disk")],
    "only reads": [trial(direction="read")],
    "no client or server CPU": [trial(client_cpu_s=None, server_cpu_s=None)],
    "no client CPU": [trial(client_cpu_s=None)],
    "no time at all": [trial(client_cpu_s=0.0, server_cpu_s=0.0, size_bytes=0)],
    "no ceiling": [trial(), trial(trial_id="b", protocol="link", tool="iperf3", status="failed", elapsed_s=None)],
    "no server CPU": [trial(server_cpu_s=None)],
    "all void": [trial(status="void", reason="cached")],
    "only names": [trial(tool="metadata", workload="names of tree mail, stat", size_bytes=5000, files=500)],
    "the largest and smallest numbers": [
        trial(
            trial_id=f"{block}-{mtu}", block=block, mtu=mtu, status=status, size_bytes=size, elapsed_s=elapsed,
            client_cpu_s=MOST, server_cpu_s=LEAST, ceiling_bytes_per_s=LEAST,
        )
        for block, status in ((1, "ok"), (2, "void"), (MOST, "ok"))
        for mtu, size, elapsed in ((0, 1, MOST), (MOST, MOST, LEAST))
    ],
    "only the link": [trial(protocol="link", tool="iperf3")],
}  # fmt: skip


@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_figure_draws_a_sweep_of_any_shape(tmp_path: Path, sweep: str) -> None:
    trials = run_folder.load(write_run(tmp_path, SWEEPS[sweep]).path)
    for name, draw in figures.ALL.items():
        figure = draw(trials)
        assert png(figure).startswith(b"\x89PNG"), name
        assert figure.get_size_inches()[0] == 8, name


@pytest.mark.parametrize("name", figures.ALL)
def test_long_text_is_drawn_without_a_warning(tmp_path: Path, name: str) -> None:
    words = "x" * 500
    trials = [trial(protocol=words[:40], tool=words[:40]), trial(trial_id="b", mtu=9000, workload=words)]
    figure = figures.ALL[name](run_folder.load(write_run(tmp_path, trials, title=words).path))
    assert ElementTree.fromstring(svg_of(figure, name)).tag.endswith("svg")


@pytest.mark.parametrize("name", figures.ALL)
def test_categories_and_encoded_trials_are_drawn_like_words(tmp_path: Path, name: str) -> None:
    small = run_folder.load(write_run(tmp_path, make_trials(combinations=[("afp", "cp")])).path)
    words = [column for column in (*stats.FACTORS, "status", "case_id") if column != "mtu"]
    named = small.assign(**{column: small[column].astype("category") for column in words})
    drawings = []
    for trials in (small, named, stats.encode(small)):
        figure = figures.ALL[name](trials)
        figure.set_layout_engine("none")  # the layout takes as long as all else
        drawings.append(png(figure))
    assert drawings[1:] == drawings[:1] * 2


@pytest.mark.parametrize("name", [name for name in MEASURES if name not in LACKING])
def test_a_measure_with_all_it_can_see_is_shown_in_full_and_as_json(name: str, tmp_path: Path) -> None:
    assert_shown_in_full(name, tmp_path)


WIDTHS = (60, 61, 72, 80, 99, 100, 120, 140, 200)


@pytest.mark.parametrize("run", CAPTURED_RUNS)
def test_every_word_of_kept_runs_is_shown_at_every_width(run: str, tmp_path: Path) -> None:
    analysis = Analysis(run_folder.load(unpack_run(run, tmp_path)))
    tables = [table for name in registry.OF_RUN for table in terminal.terminal_tables(analysis, [name])]
    for table in (table for table in tables if isinstance(table, FittedTable)):
        wide = set(rendered(table, width=200).split())
        for width in WIDTHS:
            text = rendered(table, width=width)
            lost = {word for word in wide - set(text.split()) if set(word) != {"─"}}
            assert not {word for word in lost if len(word) <= width // 2}, (width, lost)
            assert all(word in "".join(text.split()) for word in lost), width  # a long one goes over two lines
            assert max(map(len, text.splitlines())) <= width
