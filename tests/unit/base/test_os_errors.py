"""A full disk is named by the file that did not fit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.input_files import SWEEP
from support.memory_host import lab_signals
from support.synthetic_runs import trial, write_run

from lab.base.os_errors import naming
from lab.cli.main import main

FULL = Path("/dev/full")


def test_a_write_that_fails_names_its_file() -> None:
    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device: '/dev/full'$"), naming(FULL):
        FULL.write_text("x")
    with pytest.raises(FileNotFoundError, match="'/no/such'"), naming(FULL):
        Path("/no/such").read_text()


@pytest.mark.parametrize("command", ["show", "show --json", "compare", "plan", "plan --order"])
def test_a_full_standard_output_is_one_line_and_exit_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    trials = [trial(), trial(trial_id="b1-2", direction="read", case_id="x")]
    folder, other = write_run(tmp_path, trials), write_run(tmp_path, trials)
    (tmp_path / "a.toml").write_text(SWEEP)
    name, *options = command.split()
    what = {"show": [folder.path], "compare": [folder.path, other.path], "plan": [tmp_path / "a.toml"]}[name]
    with FULL.open("w") as full, lab_signals():
        monkeypatch.setattr(sys, "stdout", full)
        code = main([name, *map(str, what), *options])
    assert (code, capsys.readouterr().err) == (1, "standard output: No space left on device\n")
