"""An attempt: a process of its own, on a leash and with a lock; what is left to do is done, and nothing twice."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.fleets import FleetFolder, wait_until

from lab.base.present import present
from lab.fleet import attempt, leash
from lab.fleet.attempt import Ended, Order
from lab.fleet.journal import Outcome
from lab.fleet.queue import is_claimed


@pytest.fixture
def order(fleet: FleetFolder, fast: None, monkeypatch: pytest.MonkeyPatch) -> Order:
    """An attempt on a pair of its own."""
    monkeypatch.setattr(attempt, "STOP", threading.Event())
    hosts = fleet.pair("a")
    fleet.queue.make()
    return Order(
        task="a/quick/1", attempt=1, folder=str(fleet.queue.path / "runs/a/quick/1"), hosts_file=str(hosts),
        sweep_file=str(fleet.sweep()), stop_file=str(fleet.queue.stop_path), programs=fleet.programs,
    )  # fmt: skip


@contextmanager
def begun(order: Order) -> Iterator[Future[Ended]]:
    """An attempt in a thread, as Dask makes it; afterwards it has ended."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(attempt.attempt, order)


def made(order: Order) -> Ended:
    with begun(order) as ended:
        return ended.result(60)


def test_an_attempt_is_a_run_in_a_session_of_its_own_with_the_lock(fleet: FleetFolder, order: Order) -> None:
    fleet.take(30)
    with begun(order) as ended:
        wait_until(fleet.pids)
        (pid,) = fleet.pids()
        assert (os.getsid(pid), is_claimed(Path(order.folder) / "lock")) == (pid, True)
        assert attempt.attempt(order).outcome is Outcome.BUSY
        fleet.queue.stop_path.touch()
    assert (ended.result().outcome, ended.result().exit_code) == (Outcome.STOPPED, 143)
    assert (fleet.dirty(), fleet.log()) == ([], {"began": 1, "stopped": 1})
    fleet.queue.stop_path.unlink()
    fleet.take(0)
    assert made(replace(order, attempt=2)).outcome is Outcome.DONE
    assert replace(made(replace(order, attempt=3)), seconds=0) == Ended(Outcome.DONE)
    assert fleet.log() == {"began": 2, "stopped": 1, "finished": 1}
    assert len(list(Path(order.folder).glob("*/run.json"))) == 1


def test_a_window_that_closes_stops_the_run(fleet: FleetFolder, order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.take(30)
    now = [0.0]
    monkeypatch.setattr(attempt, "time", SimpleNamespace(time=lambda: now[0], monotonic=time.monotonic))
    with begun(replace(order, deadline=50.0)) as ended:
        wait_until(fleet.pids)
        now[0] = 100.0
    assert (ended.result().outcome, fleet.dirty()) == (Outcome.WINDOW, [])
    assert made(replace(order, deadline=0)).outcome is Outcome.WINDOW
    fleet.take(0)
    assert made(order).outcome is Outcome.DONE
    assert fleet.log() == {"began": 2, "stopped": 1, "finished": 1}


def test_hosts_that_somebody_uses_are_no_failure(fleet: FleetFolder, order: Order) -> None:
    fleet.take(30)
    with begun(replace(order, folder=str(fleet.queue.path / "runs/other"))) as other:
        wait_until(fleet.pids)
        ended = attempt.attempt(order)
        attempt.STOP.set()
    assert (ended.outcome, ended.reason) == (Outcome.HELD, "10.2.0.1: in use by somebody")
    assert other.result().outcome is Outcome.STOPPED


def test_what_a_killed_run_left_is_restored_at_once_or_by_the_next_attempt(fleet: FleetFolder, order: Order) -> None:
    fleet.take(30)
    with begun(order) as ended:
        wait_until(fleet.pids)
        os.kill(fleet.pids()[0], signal.SIGKILL)
    assert (ended.result().outcome, ended.result().exit_code) == (Outcome.FAILED, 137)
    assert len(fleet.dirty()) == 2  # the stand-in has no register that would tell
    fleet.take(0)
    assert made(order).outcome is Outcome.DONE
    assert (fleet.dirty(), fleet.log()["restored"], fleet.log()["dirty"]) == ([], 1, 0)


@pytest.mark.parametrize(("says", "code"), [("1 no route", 1), ("2 no such key", 2)])
def test_a_failure_says_why(fleet: FleetFolder, order: Order, says: str, code: int) -> None:
    (fleet.state / "says").write_text(f"{says}\nlook there\n")
    ended = made(order)
    assert (ended.outcome, ended.exit_code, ended.reason) == (Outcome.FAILED, code, f"{says[2:]}; look there")


def test_hosts_that_cannot_be_reached_begin_nothing(fleet: FleetFolder, order: Order) -> None:
    (fleet.state / "unreached").write_text("client: no route")
    assert (made(order).outcome, made(order).reason, fleet.log()) == (Outcome.FAILED, "client: no route", {})


def test_a_folder_that_cannot_be_written_to_is_a_failure_that_says_so(fleet: FleetFolder, order: Order) -> None:
    (fleet.queue.path / "runs").write_text("a file")
    ended = made(order)
    assert (ended.outcome, "runs/a/quick" in ended.reason) == (Outcome.FAILED, True)


HOLD = "import sys; from lab.fleet import leash; raise SystemExit(leash.hold(sys.argv[1:]))"
WAIT = "trap 'echo ended >&2; exit 5' TERM; echo ready; while :; do sleep 0.05; done"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the leash holds its program")
def test_a_leash_ends_its_program_when_who_started_it_is_killed(tmp_path: Path) -> None:
    parent = (
        "import os, subprocess, sys, time\n"
        "words = [sys.executable, '-I', '-S', sys.argv[1], str(os.getpid()), '/bin/sh', '-c', sys.argv[2]]\n"
        "subprocess.Popen(words, stderr=open(sys.argv[3], 'w'), start_new_session=True)\ntime.sleep(60)\n"
    )
    errors = tmp_path / "errors"
    words = [sys.executable, "-c", parent, leash.__file__, WAIT, str(errors)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert present(process.stdout).readline() == "ready\n"
        process.kill()
    wait_until(lambda: errors.read_text() == "ended\n")


def test_a_leash_that_holds_its_program_ends_it_with_its_input_and_passes_a_signal_on() -> None:
    words, pipe = [sys.executable, "-c", HOLD, "/bin/sh", "-c", WAIT], subprocess.PIPE
    for closes in (True, False):
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
            stdin, stdout, stderr = present(process.stdin), present(process.stdout), present(process.stderr)
            assert stdout.readline() == "ready\n"
            stdin.close() if closes else process.terminate()
            assert (stderr.read(), process.wait(60)) == ("ended\n", 5)
