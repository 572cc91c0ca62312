"""What `lab fleet` tells its tasks, and what it refuses."""

import sys
from pathlib import Path

import pytest
from support.commands import lab
from support.fleets import FleetFolder

from lab.fleet import attempt


def test_without_dask_a_plan_and_a_status_work_and_a_run_says_what_to_install(
    stood_in: FleetFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert lab(capsys, "fleet", "plan", stood_in.fleet_file)[0] == 0
    code, _, err = lab(capsys, "fleet", "run", stood_in.fleet_file)
    assert (code, "`pip install 'file-share-lab[fleet]'`" in err, Path("fleets").exists()) == (2, True, False)


def test_a_password_that_a_plan_looks_for_is_there_for_tasks(
    stood_in: FleetFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = stood_in.folder / "quick.toml"
    sweep.write_text(sweep.read_text().replace('["ssh"]', '["smb"]').replace('["rsync"]', '["cp"]'))
    passwords = stood_in.state / "seen"
    program = f"import os; open({str(passwords)!r}, 'a').write(os.environ.get('LAB_PASSWORD', 'none') + ' ')"
    monkeypatch.setattr(attempt, "LAB", (sys.executable, "-c", program))
    stood_in.fleet_file.write_text(f"attempts = 1\n{stood_in.fleet_file.read_text()}")
    assert lab(capsys, "fleet", "run", stood_in.fleet_file)[0] == 1
    assert passwords.read_text().split() == ["x"] * 4


def test_a_scheduler_that_is_not_taken_is_bad_input(stood_in: FleetFolder, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["tcp://10.0.0.5:8786"], "whoever reaches such a scheduler"),
        (["tls://a:1", "--site", "b"], "--site and --dashboard are of this machine"),
    ):
        code, _, err = lab(capsys, "fleet", "run", stood_in.fleet_file, "--scheduler", *words)
        assert (code, message in err, stood_in.log()) == (2, True, {})
