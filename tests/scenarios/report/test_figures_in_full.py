"""Figures that take long: of very many trials, all of a measure, and a report written twice."""

import io
from pathlib import Path

import numpy as np
from support.observed_trials import MEASURES, a_run
from support.rendered import footer, marks, png
from support.synthetic_frames import cases, noise, run
from support.synthetic_runs import make_trials, write_run

from lab.report import figures, run_report
from lab.report.analysis import Analysis
from lab.report.figures.style import MOST_MARKS


def test_figures_draw_a_sample_of_very_many_trials_and_say_so() -> None:
    of = cases(direction=["write", "read"], mtu=[1500, 9000])
    trials = run(of, noise(np.random.default_rng(1), of, 3000), client_cpu_s_per_GB=1.0, server_cpu_s_per_GB=1.0)
    trials.loc[::7, "status"] = "void"
    for name, draw in figures.ALL.items():
        figure = draw(trials)
        if name not in ("interactions", "shares"):
            assert all(len(marks(axes)) <= 2 * MOST_MARKS for axes in figure.axes if len(axes.collections))
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


def test_writing_a_report_again_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = write_run(tmp_path, make_trials(combinations=[("afp", "cp")]))
    first, second = (
        {path: path.read_bytes() for path in run_report.write(folder).parent.rglob("*") if path.is_file()}
        for _ in range(2)
    )
    assert first == second
    assert len(first) == 4 + 2 * len(figures.ALL)
