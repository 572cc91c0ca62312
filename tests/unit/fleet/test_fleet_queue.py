"""The queue: what is done is read from run folders; the journal survives a torn line and a full disk."""

import json
from pathlib import Path

import pytest
from support.fleets import FleetFolder

from lab.base.errors import BadInput
from lab.fleet.journal import Event, Journal, Outcome, parse_line
from lab.fleet.queue import Claimed, TaskState, claimed, is_claimed
from lab.fleet.status import describe, duration, forecast


def run_of(fleet: FleetFolder, task: str, **about: object) -> Path:
    """A run folder as a run leaves it."""
    folder = fleet.queue.path / "runs" / task / "20261126T100000Z-quick"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"schema": 2, "name": "quick", **about}))
    return folder


@pytest.fixture
def begun(fleet: FleetFolder) -> FleetFolder:
    """A fleet of three pairs that has begun."""
    fleet.pairs("abc")
    fleet.write()
    fleet.queue.make()
    fleet.queue.write(fleet.plan())
    return fleet


def test_a_journal_that_was_cut_off_is_read_and_mended(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert journal.lines() == []
    journal.add(Event.RESUMED)
    journal.add(Event.ENDED, "a/quick/1", 1, outcome=Outcome.DONE, exit_code=0, seconds=1.5, said="fine\nno")
    whole = journal.path.read_bytes()
    with journal.path.open("ab") as file:
        file.write(b'{"at": "2026')
    assert [line.said for line in journal.lines()] == ["", "fine / no"]
    journal.mend()
    assert journal.path.read_bytes() == whole
    assert (journal.lines()[1].exit_code, journal.lines()[1].seconds) == (0, 1.5)
    journal.path.write_bytes(b"{}\n" + whole)
    with pytest.raises(BadInput, match=r"journal.jsonl: line 1: "):
        journal.lines()


@pytest.mark.parametrize(
    "text", ["[]", '{"at": "x", "event": "began"}', '{"at": "2026-11-26T10:00:00", "event": "began"}',
             '{"at": "2026-11-26T10:00:00+00:00", "event": "fly"}', '{"more": 1}', "{", '{"event": 3}'],
)  # fmt: skip
def test_what_is_no_line_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_line(text)


@pytest.mark.usefixtures("fast")
def test_a_lock_is_seen_without_being_taken(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert (is_claimed(lock), lock.exists()) == (False, False)
    with claimed(lock):
        assert is_claimed(lock)
        with pytest.raises(Claimed), claimed(lock):
            pass
    assert not is_claimed(lock)


def test_done_is_what_a_run_folder_says_whatever_the_journal_says(begun: FleetFolder) -> None:
    journal = begun.queue.journal
    journal.add(Event.RESUMED)
    journal.add(Event.ENDED, "a/quick/1", 1, outcome=Outcome.DONE)
    run_of(begun, "b/quick/1", finished_at="2026-11-26T10:00:00+00:00", ended="complete")
    run_of(begun, "c/quick/1", ended="interrupted")
    statuses = begun.statuses()
    states = [status.state for status in statuses.values()]
    assert states == [TaskState.WAITING, TaskState.DONE, TaskState.WAITING]
    with claimed(begun.queue.folder(statuses["c/quick/1"].task) / "lock"):
        assert begun.statuses()["c/quick/1"].state is TaskState.RUNNING


def test_a_task_fails_after_so_many_attempts_and_a_resume_begins_anew(begun: FleetFolder) -> None:
    journal = begun.queue.journal
    for number in (1, 2, 3):
        journal.add(Event.BEGAN, "a/quick/1", number)
        assert begun.statuses()["a/quick/1"].state is TaskState.WAITING
        journal.add(Event.ENDED, "a/quick/1", number, outcome=Outcome.FAILED, exit_code=1, said="no route")
    journal.add(Event.ENDED, "b/quick/1", 1, outcome=Outcome.FAILED, exit_code=2, said="wrong")
    journal.add(Event.ENDED, "c/quick/1", 1, outcome=Outcome.HELD, said="in use by ann")
    states = [status.state for status in begun.statuses().values()]
    assert states == [TaskState.FAILED, TaskState.FAILED, TaskState.WAITING]
    lines = list(describe(begun.plan(), list(begun.statuses().values()), forecast(begun.plan(), [], 0), 0))
    assert lines[0].split() == ["pair", "quick"]
    assert "3 tasks: 0 done, 0 running, 2 failed, 1 waiting" in lines
    reasons = ["failed: no route", "failed: wrong", "waiting: in use by ann"]
    assert lines[-3:] == [f"{pair}/quick/1: {reason}" for pair, reason in zip("abc", reasons, strict=True)]
    journal.add(Event.RESUMED)
    assert {status.state for status in begun.statuses().values()} == {TaskState.WAITING}


def test_a_sweep_that_has_changed_under_way_is_refused(begun: FleetFolder) -> None:
    assert begun.queue.check(begun.plan()) == []
    begun.pair("d")
    assert begun.queue.check(begun.plan()) == ["1 tasks are new: d/quick/1"]
    sweep = begun.folder / "quick.toml"
    sweep.write_text(sweep.read_text() + "# changed\n")
    assert begun.queue.check(begun.plan()) == ["1 tasks are new: d/quick/1"]  # nothing of it has begun
    run_of(begun, "a/quick/1")
    with pytest.raises(BadInput, match=r"quick.toml: has changed since a/quick/1 began"):
        begun.queue.check(begun.plan())


@pytest.mark.parametrize("text", ["", "{}", '{"schema": 2}', '{"schema": 1, "id": "a", "name": "b"}', "[" * 9999])
def test_a_plan_that_no_lab_wrote_is_refused(begun: FleetFolder, text: str) -> None:
    begun.queue.plan_path.write_text(text)
    with pytest.raises(BadInput, match=r"fleet.json: not a plan of this lab"):
        begun.queue.check(begun.plan())


def test_the_forecast_knows_shared_machines_and_what_ended_tasks_took(fleet: FleetFolder) -> None:
    fleet.pairs("ab", server="10.9.0.9")
    fleet.pair("c")
    fleet.write()
    fleet.queue.make()
    plan = fleet.plan()
    estimate = plan.tasks[0].estimated_s
    before = forecast(plan, list(fleet.statuses().values()), 0.0)
    assert [before.ends_at, before.measured] == pytest.approx([2 * estimate, 0])  # a and b one after the other
    run_of(fleet, "c/quick/1", finished_at="2026-11-26T10:00:00+00:00")
    fleet.queue.journal.add(Event.BEGAN, "c/quick/1", 1)
    fleet.queue.journal.add(Event.ENDED, "c/quick/1", 1, outcome=Outcome.DONE, seconds=100)
    after = forecast(plan, list(fleet.statuses().values()), 0.0)
    assert [after.ends_at, after.measured] == pytest.approx([200, 1])


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 s"), (59.6, "1 min"), (3660, "1 h 1 min"), (90000, "1 d 1 h")])
def test_a_duration_in_words(seconds: float, text: str) -> None:
    assert duration(seconds) == text
