"""Every figure of runs of many shapes; those of tests/unit/report/test_figures.py are not among them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.drawn import png
from support.synthetic_runs import make_trials, trial, write_run

from lab.report import figures
from lab.results import run_folder
from lab.results.run_folder import Trial

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
    "only the link": [trial(protocol="link", tool="iperf3")],
}


@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_figure_draws_a_sweep_of_any_shape(tmp_path: Path, sweep: str) -> None:
    trials = run_folder.load(write_run(tmp_path, SWEEPS[sweep]).path)
    for name, draw in figures.ALL.items():
        figure = draw(trials)
        assert png(figure).startswith(b"\x89PNG"), name
        assert figure.get_size_inches()[0] == 8, name
