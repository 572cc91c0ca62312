"""`lab fleet`, as a person types it: from a plan to its end, and stopped from another terminal."""

import json
import threading
from pathlib import Path

import pytest
from support.commands import lab
from support.fleets import Bench, wait_until


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
    status = json.loads(lab(capsys, "fleet", "status", file, "--json")[1])
    assert (status["counts"], status["in_use"], status["ends_at"]) == (
        {"done": 4, "running": 0, "failed": 0, "waiting": 0}, False, None,
    )  # fmt: skip
    assert all(Path(task["run"], "run.json").exists() for task in status["tasks"])
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
