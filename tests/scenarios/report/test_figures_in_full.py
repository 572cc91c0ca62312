"""What takes long to draw: very many trials, every figure of a measure, and a report twice."""

import io
from pathlib import Path

import numpy as np
from support.drawn import footer, marks, png
from support.measures import MEASURES
from support.one_sided_runs import a_run
from support.synthetic_frames import cases, noise, run
from support.synthetic_runs import make_trials, write_run

from lab.report import figures, run_report
from lab.report.analysis import Analysis
from lab.report.figures.style import MOST_MARKS


def test_of_very_many_trials_a_sample_is_drawn_and_the_figure_says_so() -> None:
    of = cases(direction=["write", "read"], mtu=[1500, 9000])
    trials = run(of, noise(np.random.default_rng(1), of, 3000), client_cpu_s_per_GB=1.0, server_cpu_s_per_GB=1.0)
    trials.loc[::7, "status"] = "void"
    for name, draw in figures.ALL.items():
        figure = draw(trials)
        drawn = [
            marks(axes) for axes in figure.axes if len(axes.collections) and name not in ("interactions", "shares")
        ]
        assert all(len(places) <= 2 * MOST_MARKS for places in drawn)
        if name in ("throughput", "cpu_cost", "timeline"):
            assert f"marks drawn: {MOST_MARKS} of " in footer(figure).get_text()
        drawing = io.BytesIO()
        figure.savefig(drawing, format="svg")
        assert len(drawing.getvalue()) < 3_000_000


def test_every_figure_draws_a_measure() -> None:
    for name in ("both tools", "empty"):
        analysis = Analysis(a_run(MEASURES[name][0]))
        for figure, draw in figures.ALL.items():
            assert len(png(draw(analysis))) > 1000, (name, figure)


def test_writing_it_again_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = write_run(tmp_path, make_trials(combinations=[("afp", "cp")]))
    first = contents(run_report.write(folder).parent)
    assert contents(run_report.write(folder).parent) == first
    assert len(first) == 4 + 2 * len(figures.ALL)


def contents(report: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(report.rglob("*")) if path.is_file()}
