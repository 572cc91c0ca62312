"""One attempt of a task: a thread of a worker starts `lab run` in a process and session of its own.

An attempt may be started twice, and its worker may be killed. So the process that measures keeps the lock in the task's
folder. An attempt first looks at the folder and at the hosts, and does only what is left to do.
"""

import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, NamedTuple

from lab.base import durable
from lab.base.errors import BadInput
from lab.base.os_errors import explain
from lab.base.own_python import PYTHON
from lab.base.untrusted import one_line
from lab.fleet import leash
from lab.fleet.journal import Outcome
from lab.fleet.look import HostState, parse_state
from lab.fleet.queue import Claimed, TaskRun, claimed, find_run
from lab.settings.register import Register

STOP = threading.Event()  # set when the controller in this process has to end
LAB = (*PYTHON, "-m", "lab")
LOOK = (*PYTHON, "-m", "lab.fleet.look")
POLL_MS = 500  # interval between two looks whether the attempt has to end
LOOK_S, RESTORE_S, STOP_S = 180.0, 3600.0, 3600.0
TAIL_BYTES = 4000
LONGEST = 600


class Programs(NamedTuple):
    """The words before the arguments of the programs that an attempt starts; empty: the worker's own lab."""

    lab: tuple[str, ...] = ()
    look: tuple[str, ...] = ()


OWN_PROGRAMS = Programs()


@dataclass(frozen=True)
class Order:
    """What a worker needs to make an attempt. After ``deadline``, in seconds since 1970, nothing more is measured."""

    task: str
    attempt: int
    folder: str
    hosts_file: str
    sweep_file: str
    stop_file: str
    deadline: float = math.inf
    programs: Programs = OWN_PROGRAMS


@dataclass(frozen=True)
class Ended:
    """How an attempt ended. ``reason`` says why the task is not done."""

    outcome: Outcome
    exit_code: int | None = None
    reason: str = ""
    seconds: float = 0.0


def attempt(order: Order) -> Ended:
    """Do what is left to do of a task. Expected errors are returned, not raised."""
    began = time.monotonic()
    try:
        folder = Path(order.folder)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with claimed(folder / "lock") as lock:
            ended = _Attempt(order, folder, lock).make()
    except Claimed:
        ended = Ended(Outcome.BUSY, reason="an earlier attempt still restores the hosts")
    except (OSError, BadInput) as error:
        ended = Ended(Outcome.FAILED, reason=one_line(explain(error), LONGEST))
    return replace(ended, seconds=round(time.monotonic() - began, 3))


class _Attempt:
    """An attempt that holds the lock of its task."""

    def __init__(self, order: Order, folder: Path, lock: int) -> None:
        self.order, self.folder, self.lock = order, folder, lock
        self.lab = order.programs.lab or LAB

    def make(self) -> Ended:
        run = find_run(self.folder)
        if run and run.is_done:
            return Ended(Outcome.DONE)
        if early := self._why_not_begin():
            return early
        state = self._look()
        if state["in_use"]:
            return Ended(Outcome.HELD, reason=state["in_use"])
        if state["unreached"]:
            return Ended(Outcome.FAILED, reason=state["unreached"])
        if state["changed"] or _is_open(run):
            code, last_words = self._restore()
            if code != 0:
                return self._failed(code, last_words)
        if early := self._why_not_begin() or self._why_not_measure():
            return early
        return self._measure(run)

    def _measure(self, run: TaskRun | None) -> Ended:
        words = ("run", "--resume", str(run.path)) if run else (
            "run", "--hosts", self.order.hosts_file, "--results", str(self.folder), self.order.sweep_file
        )  # fmt: skip
        code, last_words = self._start_and_wait(self.lab + words)
        newest = find_run(self.folder)
        if newest and newest.is_done:
            return Ended(Outcome.DONE, code)
        if _is_open(newest):
            self._restore()  # the run was killed; if this fails, the next attempt tries again
        early = self._why_not_begin() or self._why_not_measure()
        return Ended(early.outcome, code, early.reason) if early else self._failed(code, last_words)

    def _restore(self) -> tuple[int, str]:
        words = ("restore", "--hosts", self.order.hosts_file, "--results", str(self.folder))
        return self._start_and_wait(self.lab + words, RESTORE_S)

    def _failed(self, code: int, last_words: str) -> Ended:
        """The end of an attempt whose program failed, maybe because somebody else took a host meanwhile."""
        if code == 1 and (in_use := self._look()["in_use"]):
            return Ended(Outcome.HELD, code, in_use)
        return Ended(Outcome.FAILED, code, last_words or f"exit code {code}")

    def _why_not_begin(self) -> Ended | None:
        is_stopped = STOP.is_set() or os.path.lexists(self.order.stop_file)
        return Ended(Outcome.STOPPED, reason="the fleet was told to stop") if is_stopped else None

    def _why_not_measure(self) -> Ended | None:
        is_late = time.time() >= self.order.deadline
        return Ended(Outcome.WINDOW, reason="its window of time has closed") if is_late else None

    def _look(self) -> HostState:
        with tempfile.TemporaryFile() as output:
            words = (*(self.order.programs.look or LOOK), self.order.hosts_file)
            code, last_words = self._start_and_wait(words, LOOK_S, output)
            output.seek(0)
            text = output.read(1 << 20).decode(errors="replace")
        try:
            if code != 0:
                raise ValueError(last_words or f"exit code {code}")
            return parse_state(text)
        except ValueError as error:
            raise BadInput(f"{self.order.hosts_file}: its hosts could not be looked at: {error}") from error

    def _start_and_wait(
        self, words: tuple[str, ...], most_s: float | None = None, output: IO[bytes] | None = None
    ) -> tuple[int, str]:
        """Run a program; return its exit code, as a shell has it, and the last lines of its errors.

        The program is told to end after ``most_s`` seconds; without ``most_s``, when the fleet stops or the task's
        window closes.
        """
        log = self.folder / f"attempt-{self.order.attempt}"
        with _open_log(log.with_suffix(".out")) as out, _open_log(log.with_suffix(".err")) as errors:
            start = errors.seek(0, os.SEEK_END)
            process, pipe = _start(words, output or out, errors, self.lock)
            try:
                self._wait(process, pipe, most_s)
            finally:
                os.close(pipe)
            code = process.returncode if process.returncode is not None else 128 + signal.SIGTERM
            return (code if code >= 0 else 128 - code), _last_words(log.with_suffix(".err"), start)

    def _wait(self, process: subprocess.Popen[bytes], pipe: int, most_s: float | None) -> None:
        """Wait until the program ends, which closes ``pipe``. Raises BadInput STOP_S after it was told to end."""
        deadline = time.monotonic() + most_s if most_s else math.inf
        terminated_at = math.inf
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        while not poll.poll(POLL_MS):
            now = time.monotonic()
            is_over = now > deadline if most_s else bool(self._why_not_begin() or self._why_not_measure())
            if is_over and terminated_at == math.inf:
                terminated_at = now
                process.terminate()
            if now > terminated_at + STOP_S:
                raise BadInput(
                    f"process {process.pid} was told to end {STOP_S / 60:.0f} min ago, and still restores its hosts"
                )
        process.wait()


def _start(
    words: tuple[str, ...], output: IO[bytes], errors: IO[bytes], lock: int
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a program on a leash, in its own session and with the lock. Its end closes the pipe that is returned."""
    read_end, write_end = os.pipe()
    command = (sys.executable, "-I", "-S", str(Path(leash.__file__)), str(os.getpid()), *words)
    stdin = subprocess.DEVNULL if sys.platform == "linux" else subprocess.PIPE
    try:
        process = subprocess.Popen(  # noqa: S603 – the lab itself, without a shell
            command, stdin=stdin, stdout=output, stderr=errors, start_new_session=True, pass_fds=(lock, write_end)
        )
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    return process, read_end


def _open_log(path: Path) -> IO[bytes]:
    """Open a log to append to; links are not followed."""
    return os.fdopen(durable.open_own(path, os.O_RDWR | os.O_APPEND), "ab")


def _last_words(path: Path, start: int) -> str:
    """The last two lines of a program's errors: what happened, and what to do."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(start, end - TAIL_BYTES))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    return one_line("; ".join(lines[-2:]), LONGEST)


def _is_open(run: TaskRun | None) -> bool:
    """Whether this account's register says that the run may have left its hosts changed."""
    return run is not None and run.path.resolve() in [Path(entry.folder) for entry in Register().open_runs()[0]]


def sees_queue(plan_file: str, identity: str) -> bool:
    """Whether a worker sees the queue of this fleet, not another folder of the same name."""
    try:
        return f'"{identity}"' in Path(plan_file).read_text(encoding="utf-8")
    except OSError:
        return False
