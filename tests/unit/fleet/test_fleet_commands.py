"""`lab fleet`, as a person types it."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import pytest
from support.commands import lab
from support.fleets import Bench, wait_until

from lab.fleet import attempt


@pytest.fixture
def stood_in(fleet: Bench, fast: None, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Whose attempts start the stand-in."""
    monkeypatch.setattr(attempt, "LAB", fleet.programs.lab)
    monkeypatch.setattr(attempt, "LOOK", fleet.programs.look)
    fleet.pair("a", server="10.9.0.9")
    fleet.pair("b", server="10.9.0.9")
    fleet.write('[[tasks]]\nsweep = "quick.toml"\nrepetitions = 2\n')
    return fleet


def test_from_a_plan_to_its_end(stood_in: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    file = stood_in.fleet_file
    code, out, err = lab(capsys, "fleet", "plan", file)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:3] == ["pair  quick", "a     2 runs", "b     2 runs"]
    assert lines[3].startswith("4 tasks on 2 pairs, ")
    assert lines[4:] == ["shared: 10.9.0.9: a, b: never at once", "shared: at-10.9.0.9: a, b: never at once"]
    assert not Path("fleets").exists()
    assert len(json.loads(lab(capsys, "fleet", "plan", file, "--json")[1])["tasks"]) == 4

    for command in ("status", "resume"):
        code, _, err = lab(capsys, "fleet", command, file)
        assert (code, "no fleet has begun there" in err) == (2, True)
    code, out, err = lab(capsys, "fleet", "run", file)
    assert code == 0, err
    assert out.splitlines()[1:3] == ["a     2 done", "b     2 done"]
    assert out.splitlines()[-1] == str(Path("fleets/try").absolute())
    assert "a/quick/1: begins (attempt 1)" in err
    code, _, err = lab(capsys, "fleet", "run", file)
    assert (code, "has begun already" in err) == (2, True)
    said = json.loads(lab(capsys, "fleet", "status", file, "--json")[1])
    assert (said["counts"], said["in_use"], said["ends_at"]) == (
        {"done": 4, "running": 0, "failed": 0, "waiting": 0}, False, None,
    )  # fmt: skip
    assert all(Path(task["run"], "run.json").exists() for task in said["tasks"])
    assert lab(capsys, "fleet", "resume", file)[0] == 0
    assert stood_in.log()["finished"] == 4


def test_a_stop_from_another_terminal(stood_in: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    from lab.cli.main import main

    file = str(stood_in.fleet_file)
    assert lab(capsys, "fleet", "stop", file)[1].endswith("nothing of this fleet runs\n")
    stood_in.take(60)
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(_without_signals(main, ["fleet", "run", file])))
    thread.start()
    wait_until(stood_in.pids)
    code, _, err = lab(capsys, "fleet", "resume", file)
    assert (code, "another `lab fleet` works on this fleet now" in err) == (2, True)
    running = json.loads(lab(capsys, "fleet", "status", file, "--json")[1])
    assert (running["counts"]["running"], running["counts"]["waiting"], running["in_use"]) == (1, 3, True)
    code, out, _ = lab(capsys, "fleet", "stop", file)
    assert code == 0
    assert "stopped; `lab fleet resume` goes on" in out
    thread.join(60)
    assert codes == [1]
    assert (stood_in.dirty(), stood_in.log()) == ([], {"began": 1, "stopped": 1})
    stood_in.take(0)
    assert lab(capsys, "fleet", "resume", file)[0] == 0
    assert set(stood_in.finished().values()) == {1}
    assert len(stood_in.finished()) == 4


def _without_signals(main: object, words: list[str]) -> int:
    """The command in a thread, which can install no handlers of signals."""
    from unittest import mock

    assert callable(main)
    with mock.patch("lab.base.signals.install"):
        code: int = main(words)
    return code


def test_without_dask_a_plan_and_a_status_work_and_a_run_says_what_to_install(
    stood_in: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert lab(capsys, "fleet", "plan", stood_in.fleet_file)[0] == 0
    code, _, err = lab(capsys, "fleet", "run", stood_in.fleet_file)
    assert code == 2
    assert "`pip install 'file-share-lab[fleet]'`" in err
    assert not Path("fleets").exists()


def test_a_password_that_a_plan_looks_for_is_there_for_tasks(
    stood_in: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = stood_in.folder / "quick.toml"
    sweep.write_text(sweep.read_text().replace('["ssh"]', '["smb"]').replace('["rsync"]', '["cp"]'))
    seen = stood_in.state / "seen"
    program = f"import os; open({str(seen)!r}, 'a').write(os.environ.get('LAB_PASSWORD', 'none') + ' ')"
    monkeypatch.setattr(attempt, "LAB", (sys.executable, "-c", program))
    stood_in.fleet_file.write_text(f"attempts = 1\n{stood_in.fleet_file.read_text()}")
    assert lab(capsys, "fleet", "run", stood_in.fleet_file)[0] == 1
    assert seen.read_text().split() == ["x"] * 4


@pytest.mark.parametrize("words", [["--scheduler", "tcp://10.0.0.5:8786"], ["--scheduler", "tls://a:1", "--site", "b"]])
def test_a_scheduler_that_is_not_taken_is_bad_input(
    stood_in: Bench, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    code, _, err = lab(capsys, "fleet", "run", stood_in.fleet_file, *words)
    assert code == 2
    assert "whoever reaches such a scheduler" in err or "--site and --dashboard are of this machine" in err
    assert stood_in.log() == {}
