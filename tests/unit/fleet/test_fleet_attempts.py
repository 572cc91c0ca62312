"""An attempt: a process of its own, on a leash and with a lock; what is left to do is done, and nothing twice."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.fleets import Bench, wait_until

from lab.fleet import attempt, leash
from lab.fleet.attempt import Ended, Order
from lab.fleet.journal import Outcome
from lab.fleet.queue import is_claimed


@pytest.fixture
def order(fleet: Bench, fast: None, monkeypatch: pytest.MonkeyPatch) -> Order:
    """One of a pair of its own."""
    monkeypatch.setattr(attempt, "STOP", threading.Event())
    hosts = fleet.pair("a")
    fleet.queue.make()
    return Order(
        task="a/quick/1", attempt=1, folder=str(fleet.queue.path / "runs/a/quick/1"), hosts_file=str(hosts),
        sweep_file=str(fleet.sweep()), stop_file=str(fleet.queue.stop_path), deadline=math.inf,
        programs=fleet.programs,
    )  # fmt: skip


def made(order: Order, during: object = None) -> Ended:
    """The end of an attempt, in a thread as Dask has it; ``during`` is done meanwhile."""
    ends: list[Ended] = []
    thread = threading.Thread(target=lambda: ends.append(attempt.attempt(order)))
    thread.start()
    if callable(during):
        during()
    thread.join(60)
    return ends[0]


def test_an_attempt_is_a_run_in_a_session_of_its_own_with_the_lock(fleet: Bench, order: Order) -> None:
    fleet.take(30)
    seen: list[object] = []

    def look() -> None:
        wait_until(fleet.pids)
        (pid,) = fleet.pids()
        seen.extend([os.getsid(pid) == pid, is_claimed(Path(order.folder) / "lock"), attempt.attempt(order).outcome])
        fleet.queue.stop_path.touch()

    ended = made(order, look)
    assert seen == [True, True, Outcome.BUSY]
    assert (ended.outcome, ended.exit_code) == (Outcome.STOPPED, 143)
    assert (fleet.dirty(), fleet.log()) == ([], {"began": 1, "stopped": 1})
    fleet.queue.stop_path.unlink()
    fleet.take(0)
    assert made(replace(order, attempt=2)).outcome is Outcome.DONE
    assert replace(made(replace(order, attempt=3)), seconds=0) == Ended(Outcome.DONE)
    assert fleet.log() == {"began": 2, "stopped": 1, "finished": 1}
    assert len(list(Path(order.folder).glob("*/run.json"))) == 1


def test_a_window_that_closes_stops_the_run_and_it_goes_on(
    fleet: Bench, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.take(30)
    now = [0.0]
    clock = SimpleNamespace(time=lambda: now[0], monotonic=time.monotonic)
    monkeypatch.setattr(attempt, "time", clock)

    def close() -> None:
        wait_until(fleet.pids)
        now[0] = 100.0

    ended = made(replace(order, deadline=50.0), close)
    assert (ended.outcome, fleet.dirty()) == (Outcome.WINDOW, [])
    assert made(replace(order, deadline=0)).outcome is Outcome.WINDOW
    fleet.take(0)
    assert made(order).outcome is Outcome.DONE
    assert fleet.log() == {"began": 2, "stopped": 1, "finished": 1}


def test_hosts_that_somebody_uses_are_no_failure(fleet: Bench, order: Order) -> None:
    fleet.take(30)
    other = replace(order, folder=str(fleet.queue.path / "runs/other"))

    def try_too() -> None:
        wait_until(fleet.pids)
        ended = attempt.attempt(order)
        assert (ended.outcome, ended.reason) == (Outcome.HELD, "10.2.0.1: in use by somebody")
        attempt.STOP.set()

    assert made(other, try_too).outcome is Outcome.STOPPED


def test_what_a_killed_run_left_is_restored_at_once_or_by_the_next_attempt(fleet: Bench, order: Order) -> None:
    fleet.take(30)

    def kill() -> None:
        wait_until(fleet.pids)
        os.kill(fleet.pids()[0], signal.SIGKILL)

    ended = made(order, kill)
    assert (ended.outcome, ended.exit_code) == (Outcome.FAILED, 137)
    assert len(fleet.dirty()) == 2  # the stand-in has no register that would tell
    fleet.take(0)
    assert made(order).outcome is Outcome.DONE
    assert (fleet.dirty(), fleet.log()["restored"], fleet.log()["dirty"]) == ([], 1, 0)


@pytest.mark.parametrize(("says", "code"), [("1 no route", 1), ("2 no such key", 2)])
def test_a_failure_says_why(fleet: Bench, order: Order, says: str, code: int) -> None:
    (fleet.state / "says").write_text(f"{says}\nlook there\n")
    ended = made(order)
    assert (ended.outcome, ended.exit_code, ended.reason) == (Outcome.FAILED, code, f"{says[2:]}; look there")


def test_hosts_that_cannot_be_reached_begin_nothing(fleet: Bench, order: Order) -> None:
    (fleet.state / "unreached").write_text("client: no route")
    assert (made(order).outcome, made(order).reason, fleet.log()) == (Outcome.FAILED, "client: no route", {})


def test_a_folder_that_cannot_be_written_to_is_a_failure_that_says_so(fleet: Bench, order: Order) -> None:
    (fleet.queue.path / "runs").write_text("a file")
    ended = made(order)
    assert ended.outcome is Outcome.FAILED
    assert "runs/a/quick" in ended.reason


HOLD = """
import sys
from pathlib import Path
from types import SimpleNamespace
from lab.fleet import leash
raise SystemExit(leash.hold(sys.argv[1:]))
"""
WAIT = "trap 'echo ended >&2; exit 5' TERM; echo ready; while :; do sleep 0.05; done"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the leash holds its program")
def test_a_leash_ends_its_program_when_who_started_it_is_killed(tmp_path: Path) -> None:
    parent = (
        "import os, subprocess, sys, time\n"
        "words = [sys.executable, '-I', '-S', sys.argv[1], str(os.getpid()), '/bin/sh', '-c', sys.argv[2]]\n"
        "subprocess.Popen(words, stderr=open(sys.argv[3], 'w'), start_new_session=True)\n"
        "time.sleep(60)\n"
    )
    errors = tmp_path / "errors"
    words = [sys.executable, "-c", parent, leash.__file__, WAIT, str(errors)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        process.kill()
    wait_until(lambda: errors.read_text() == "ended\n")


def test_a_leash_that_holds_its_program_ends_it_with_its_input_and_passes_a_signal_on() -> None:
    def held() -> subprocess.Popen[str]:
        words = [sys.executable, "-c", HOLD, "/bin/sh", "-c", WAIT]
        pipe = subprocess.PIPE
        return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    for closes in (True, False):
        with held() as process:
            assert process.stdin
            assert process.stdout
            assert process.stderr
            assert process.stdout.readline() == "ready\n"
            if closes:
                process.stdin.close()
            else:
                process.terminate()
            assert process.stderr.read() == "ended\n"
            assert process.wait(60) == 5
