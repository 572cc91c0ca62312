"""The controller with Dask's scheduler in this process: from a plan to its end, as `lab fleet` and as a library."""

import errno
import json
import os
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from support.commands import lab
from support.fleets import FleetFolder
from support.waiting import wait_until

from lab.base import durable
from lab.base.errors import BadInput, LabFailure
from lab.cli.main import main
from lab.fleet import control
from lab.fleet.journal import Event
from lab.fleet.queue import TaskState, claimed
from lab.fleet.windows import Opening

pytestmark = pytest.mark.usefixtures("fast")


def test_every_task_is_done_once_and_no_machine_is_used_twice_at_a_time(fleet: FleetFolder) -> None:
    fleet.pairs("ab", server="10.9.0.9")
    fleet.pair("c")
    fleet.write('[[tasks]]\nsweep = "quick.toml"\nrepetitions = 2\n')
    fleet.run()
    assert {status.state for status in fleet.statuses().values()} == {TaskState.DONE}
    assert (fleet.log(), fleet.dirty()) == ({"began": 6, "finished": 6}, [])
    assert fleet.outcomes("a/quick/2") == ["done"]
    assert [line.event.value for line in fleet.lines("a/quick/1")] == ["began", "ended"]
    begins, done, *_ = (line for line in fleet.messages if "a/quick/1" in line)
    assert begins == "a/quick/1: begins (attempt 1)"
    assert done.startswith("a/quick/1: done in ")


def test_what_is_more_urgent_comes_first_where_machines_are_shared(fleet: FleetFolder) -> None:
    fleet.pairs("ab", server="10.9.0.9")
    fleet.sweep("urgent")
    tasks = '[[tasks]]\nsweep = "quick.toml"\n[[tasks]]\nsweep = "urgent.toml"\npriority = 2\npairs = ["b"]\n'
    fleet.write(tasks, top="most_at_once = 1")
    fleet.run()
    began = [line.split()[0] for line in fleet.messages if "begins" in line]
    assert began == ["b/urgent/1:", "a/quick/1:", "b/quick/1:"]


def test_a_pair_that_somebody_else_uses_waits_and_says_so(fleet: FleetFolder) -> None:
    fleet.pair("a")
    fleet.write()
    with fleet.running() as run, claimed(fleet.state / "10.1.0.1.lock"):
        wait_until(lambda: len(fleet.outcomes("a/quick/1")) > 3)
    run.result()
    *held, done = fleet.outcomes("a/quick/1")
    assert (set(held), done) == ({"held"}, "done")
    assert fleet.messages.count("a/quick/1: waits: 10.1.0.1: in use by somebody") == 1
    assert fleet.log() == {"began": 1, "finished": 1}


def test_a_task_that_fails_is_given_up_after_its_attempts_and_a_resume_tries_again(fleet: FleetFolder) -> None:
    fleet.pair("a")
    fleet.write(top="attempts = 2")
    (fleet.state / "says").write_text("1 no route")
    fleet.run()
    assert (fleet.outcomes("a/quick/1"), fleet.statuses()["a/quick/1"].state) == (["failed"] * 2, TaskState.FAILED)
    (fleet.state / "says").write_text("2 no such key")
    fleet.run()
    assert fleet.outcomes("a/quick/1")[2:] == ["failed"]  # what is wrong in a file stays so
    (fleet.state / "says").unlink()
    fleet.run()
    assert fleet.outcomes("a/quick/1")[3:] == ["done"]


def test_a_pair_that_cannot_be_reached_is_left_alone_for_a_while_by_all_of_its_tasks(fleet: FleetFolder) -> None:
    fleet.pair("a")
    fleet.write('[[tasks]]\nsweep = "quick.toml"\nrepetitions = 3\n', top="attempts = 1")
    (fleet.state / "unreached").write_text("client: no route")
    fleet.fleet_file.write_text(fleet.fleet_file.read_text().replace('"0.1 s"', '"0.3 s"'))
    fleet.run()
    began = [line.time for line in fleet.queue.journal.lines() if line.event is Event.BEGAN]
    assert len(began) == 3
    assert all(later - earlier >= 0.29 for earlier, later in pairwise(began))
    assert {status.state for status in fleet.statuses().values()} == {TaskState.FAILED}


def test_a_pair_that_no_worker_reaches_is_an_error_at_once(fleet: FleetFolder) -> None:
    fleet.pair("a")
    fleet.write(pairs='[[pairs]]\nhosts = ["hosts/a.ini"]\nsite = "berlin"\n')
    with pytest.raises(BadInput, match=r"a: no worker reaches berlin; sites that are reached: none"):
        fleet.run()
    assert not fleet.queue.exists
    fleet.run(sites=("berlin",))
    assert fleet.outcomes("a/quick/1") == ["done"]


def test_a_window_is_waited_for_and_hosts_are_restored(fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.pairs("ab")
    fleet.write('[[tasks]]\nsweep = "quick.toml"\nwindows = ["00:00-24:00"]\n')
    plan = fleet.plan()
    fleet.queue.make()
    fleet.queue.journal.add(Event.BEGAN, "a/quick/1", 1)
    for machine in ("10.1.0.1", "10.2.0.1"):
        (fleet.state / f"{machine}.dirty").touch()
    opens = [time.time() + 3600]
    monkeypatch.setattr(control, "next_opening", lambda *_: Opening(opens[0], opens[0] + 7200))
    with fleet.running() as run:
        wait_until(lambda: fleet.log()["restored"])
        assert fleet.log()["began"] == 0
        opens[0] -= 3600
    run.result()
    assert [fleet.outcomes(f"{pair}/quick/1") for pair in "ab"] == [["window", "done"], ["done"]]
    assert (len(plan.tasks[0].windows), fleet.dirty()) == (1, [])


def test_a_full_disk_ends_it_once_what_runs_has_ended(fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.pairs("ab")
    fleet.write(top="most_at_once = 1")
    append: Callable[[Path, bytes], None] = durable.append

    def full(path: Path, data: bytes) -> None:
        if b'"began"' in data and b"b/quick" in data:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        append(path, data)

    monkeypatch.setattr(durable, "append", full)
    with pytest.raises(LabFailure, match=r"journal.jsonl: No space left on device: make room"):
        fleet.run()
    assert (fleet.log(), fleet.dirty()) == ({"began": 1, "finished": 1}, [])
    monkeypatch.setattr(durable, "append", append)
    fleet.run()
    assert fleet.log()["finished"] == 2


def test_on_a_disk_that_is_nearly_full_nothing_begins(fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.pair("a")
    fleet.write()
    monkeypatch.setattr(control, "LEAST_ROOM", 1 << 60)
    with pytest.raises(LabFailure, match=r"queue: No space left but [0-9]+ KiB: make room for "):
        fleet.run()
    assert (fleet.log(), fleet.lines("a/quick/1")) == ({}, [])
    monkeypatch.setattr("lab.fleet.control.shutil.disk_usage", lambda _: (0, 0, 0))  # as a file system of FUSE may say
    fleet.run()
    assert fleet.log()["finished"] == 1


def test_from_a_plan_to_its_end(stood_in: FleetFolder, capsys: pytest.CaptureFixture[str]) -> None:
    file = stood_in.fleet_file
    code, out, err = lab(capsys, "fleet", "plan", file)
    assert (code, err) == (0, "")
    *table, tasks, by_address, by_name = out.splitlines()
    assert table == ["pair  quick", "a     2 runs", "b     2 runs"]
    assert tasks.startswith("4 tasks on 2 pairs, ")
    assert (by_address, by_name) == tuple(f"shared: {name}10.9.0.9: a, b: never at once" for name in ("", "at-"))
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


def test_a_stop_from_another_terminal(
    stood_in: FleetFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(stood_in.fleet_file)
    assert lab(capsys, "fleet", "stop", file)[1].endswith("nothing of this fleet runs\n")
    stood_in.take(60)
    codes: list[int] = []
    # a thread can install no handlers of signals
    monkeypatch.setattr("lab.base.signals.install", lambda: None)
    thread = threading.Thread(target=lambda: codes.append(main(["fleet", "run", file])))
    thread.start()
    wait_until(stood_in.pids)
    code, _, err = lab(capsys, "fleet", "resume", file)
    assert (code, "another `lab fleet` works on this fleet now" in err) == (2, True)
    running = json.loads(lab(capsys, "fleet", "status", file, "--json")[1])
    assert (running["counts"]["running"], running["counts"]["waiting"], running["in_use"]) == (1, 3, True)
    code, out, _ = lab(capsys, "fleet", "stop", file)
    assert (code, "stopped; `lab fleet resume` goes on" in out) == (0, True)
    thread.join(60)
    assert (codes, stood_in.dirty(), stood_in.log()) == ([1], [], {"began": 1, "stopped": 1})
    stood_in.take(0)
    assert lab(capsys, "fleet", "resume", file)[0] == 0
    assert list(stood_in.finished().values()) == [1] * 4
