"""One cell of the matrix: a run with a fault, and what became of the hosts and the trials."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lab.cli import main as cli
from lab.hosts.hosts_file import load_hosts
from lab.local import syscalls

from . import clock, inject, kinds, link, space, trials
from .inject import Fault, Sent
from .observe import Observer, State, difference

RUN_DEADLINE_S = 600.0
SETTLE_S = 10.0
DISK_BYTES = 8 * 2**20
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]")
MOST_LATE = 3
MOST_MEMORY = 700 * 2**20  # for a command that a host floods; the forking process has 200 MiB


@dataclass(frozen=True)
class Cell:
    sweep: str
    fault: Fault

    @property
    def name(self) -> str:
        fault = self.fault
        return f"{self.sweep}/{fault.site}/{fault.kind}/{fault.when}"


@dataclass(frozen=True)
class Baseline:
    """A sweep without faults: the commands that it sends, and its trials.

    With ``killed_at``, the commands are those of `lab restore` after the controller was killed there.
    """

    sent: dict[str, Sent]
    trials: dict[str, trials.Row]
    killed_at: Fault | None = None

    @property
    def slots(self) -> set[str]:
        """The trials that every run must end up with, except ceilings."""
        return {trial for trial, row in self.trials.items() if row["protocol"] not in trials.CEILINGS}


@dataclass
class Outcome:
    """What became of a cell. ``command`` is the command that the fault struck, empty if it struck none.

    ``hosts`` is ``self``, ``restore`` or ``dirty``; the lists say what is wrong.
    """

    cell: Cell
    command: str = ""
    hosts: str = "dirty"
    dirt: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    story: str = ""
    seconds: float = 0.0

    @property
    def bad(self) -> bool:
        return bool(self.dirt or self.lost or self.wrong or self.other)


class Stage:
    """The place where `lab` commands run for one cell: a small disk that they write to, and a folder beside it."""

    def __init__(self, lab: str, hosts: Path, sweep: Path):
        self.lab_name = lab
        self.folder = Path(tempfile.mkdtemp(prefix="cell-", dir=hosts.parent))
        self.disk = self.folder / "disk"
        self.results = self.disk / "results"
        self.largest = 0  # bytes of memory that a command used
        self.hosts, self.sweep = hosts, sweep
        named = load_hosts(hosts).share.devices if '"named"' in sweep.read_text() else ()
        self.write_to = [word for device in named for word in ("--write-to", device)]
        self.outputs: list[tuple[str, int, str]] = []

    def __enter__(self) -> Stage:
        syscalls.keep_mounts_private()
        self.disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "controller", str(self.disk)]
        subprocess.run(mount, check=True)  # gone with this process
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "--lazy", str(self.disk)], check=True)
        shutil.rmtree(self.folder)

    def lab(self, *arguments: str, prepare: Callable[[], None] = lambda: None) -> int:
        """Run a `lab` command in a process of its own, after ``prepare``; its exit code, negative for a signal."""
        path = self.folder / f"output-{len(self.outputs)}"
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            os.setsid()
            syscalls.die_with_parent(parent)
            os.chdir(self.disk)
            os.environ["XDG_STATE_HOME"] = str(self.disk / "state")
            os.environ[clock.OF_CONTROLLER] = str(self.folder / "clock")
            output = os.open(path, os.O_WRONLY | os.O_CREAT)
            os.dup2(output, 1)
            os.dup2(output, 2)
            try:
                prepare()
                os._exit(cli.main(arguments))
            except BaseException:
                traceback.print_exc()
                os._exit(70)
        code, most = _wait(pid)
        self.largest = max(self.largest, most)
        self.outputs.append((f"lab {' '.join(arguments)}", code, path.read_text(errors="replace")))
        return code

    def subject(self, prepare: Callable[[], None], killed_at: Fault | None) -> int:
        """Run the sweep, and if it is killed first, `lab restore`. ``prepare`` precedes the last command."""
        run = ("run", "--hosts", str(self.hosts), str(self.sweep), *self.write_to)
        if killed_at is None:
            return self.lab(*run, prepare=prepare)
        self.lab(*run, prepare=lambda: inject.inject(self.lab_name, killed_at, 0.0, self.folder / "killed"))
        return self.lab("restore", prepare=prepare)

    def run_folder(self) -> Path | None:
        """The folder of the run; None without a run.json, because then the run has not begun."""
        return next((path.parent for path in self.results.glob("*/run.json") if path.stat().st_size), None)

    def story(self) -> str:
        """All output, and the commands around the fault, as text."""
        folder = self.run_folder()
        log = folder / "commands.log" if folder else None
        commands = log.read_text(errors="replace") if log and log.exists() else ""
        parts = [f"$ {command}\n{output.strip()}\n(exit code {code})" for command, code, output in self.outputs]
        return "\n".join([*parts, "commands.log:", commands])


def _wait(pid: int) -> tuple[int, int]:
    """Wait for a process: its exit code (negative for a signal), and the most memory that it used, in bytes."""
    deadline = time.monotonic() + RUN_DEADLINE_S
    while time.monotonic() < deadline:
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise TimeoutError(f"`lab` did not end in {RUN_DEADLINE_S:g} s")


def measure(
    lab: str, hosts: Path, sweep: Path, killed: tuple[Fault, Baseline] | None, tries: int = MOST_LATE
) -> Baseline:
    """Run a sweep without faults; it must succeed. ``killed``: where to kill the run, and the baseline of that run.

    Tries again if a trial is void because the machine was busy.
    """
    killed_at, run = killed or (None, None)
    with Stage(lab, hosts, sweep) as stage:
        target = stage.folder / "sent"
        code = stage.subject(lambda: inject.record(lab, target), killed_at)
        kept = trials.read(stage.run_folder()).rows
        if tries > 1 and any(map(trials.is_late, kept.values())):
            return measure(lab, hosts, sweep, killed, tries - 1)
        assert code == 0, f"the sweep {sweep.stem} fails without any fault:\n{stage.story()}"
        sent = [Sent(**json.loads(line)) for line in target.read_text().splitlines()]
        return Baseline({command.site: command for command in sent}, run.trials if run else kept, killed_at)


def play(cell: Cell, observer: Observer, before: State, hosts: Path, sweep: Path, baseline: Baseline) -> Outcome:
    """Play one cell in a local lab whose hosts were in the state ``before``."""
    started = time.monotonic()
    outcome = Outcome(cell)
    with Stage(observer.name, hosts, sweep) as stage:
        try:
            code = _strike(outcome, stage, baseline)
            _look_at_hosts(outcome, stage, observer, before)
            _look_at_trials(outcome, stage, baseline, code)
            if not outcome.dirt:
                outcome.dirt = [f"after the resumed run: {line}" for line in _settled(observer, before)]
        except TimeoutError as error:
            outcome.dirt.append(str(error))
        if outcome.dirt:
            outcome.hosts = "dirty"
        for command, _, output in stage.outputs:
            outcome.other += [f"`{command}` printed a traceback"] if "Traceback" in output else []
            outcome.other += [f"`{command}` printed control characters"] if CONTROL.search(output) else []
        if stage.largest > MOST_MEMORY:
            outcome.other.append(f"a command took {stage.largest / 2**20:.0f} MiB of memory")
        outcome.story = stage.story()
    outcome.seconds = time.monotonic() - started
    return outcome


def _strike(outcome: Outcome, stage: Stage, baseline: Baseline) -> int:
    """Run with the fault, then undo what stays of the fault; returns the exit code."""
    fault, lab, target = outcome.cell.fault, stage.lab_name, stage.folder / "injected"
    kind, usual_s = kinds.KINDS[fault.kind], baseline.sent[fault.site].elapsed_s
    sizes = {place: size for host in kind.fills for place, size in space.places(lab, host).items()}
    code = stage.subject(lambda: inject.inject(lab, fault, usual_s, target), baseline.killed_at)
    space.lift(sizes)
    (stage.disk / space.FILLER).unlink(missing_ok=True)
    kind.lift(lab)
    if fault.when == kinds.DURING:
        link.lift(lab)
    if target.exists():
        outcome.command = Sent(**json.loads(target.read_text())).text
    else:
        outcome.other.append("this command was never sent")
    return code


def _look_at_trials(outcome: Outcome, stage: Stage, baseline: Baseline, code: int) -> None:
    """Complete the run. Each trial must be there once and be true, and the user must be told of failures."""
    first, fault = trials.read(stage.run_folder()), outcome.cell.fault
    kind = kinds.KINDS[fault.kind]
    failed = any(first.rows.get(slot, {}).get("status") != "ok" for slot in baseline.slots)
    if code == 0 and failed and baseline.killed_at is None:
        outcome.other.append("the run ended with exit code 0, and not all of its trials are ok")
    reasons = [str(row["reason"]) for row in first.rows.values()]
    shown = "\n".join([*(output for _, _, output in stage.outputs), *reasons])
    if code != 0 and (kind.strikes_files or fault.when == kinds.DURING) and not re.search(kind.says, shown):
        outcome.other.append(f"the user is not told: {kind.says}")
    if stage.run_folder() is None:
        return
    _resume(outcome, stage, first, baseline)
    last = trials.read(stage.run_folder())
    spoilt = inject.trial_of(outcome.command) if fault.when in kind.spoils else None
    outcome.lost = trials.lost(first, last, baseline.slots)
    outcome.wrong = trials.wrong(first, last, baseline.trials, spoilt)


def _look_at_hosts(outcome: Outcome, stage: Stage, observer: Observer, before: State) -> None:
    """Note whether the run restored its hosts, or `lab restore` did."""
    outcome.hosts = "self"
    if _settled(observer, before):
        outcome.hosts = "restore"
        code = stage.lab("restore")
        outcome.dirt = _settled(observer, before)
        if code != 0:
            outcome.other.append(f"`lab restore` ended with exit code {code}")


def _settled(observer: Observer, before: State) -> list[str]:
    """How the hosts differ from before; waits for processes that are about to end."""
    observer.settle()
    deadline = time.monotonic() + SETTLE_S
    while True:
        changes = difference(before, observer.state())
        if all(": process " not in line for line in changes) or time.monotonic() > deadline:
            return changes
        time.sleep(0.1)


def _resume(outcome: Outcome, stage: Stage, first: trials.Kept, baseline: Baseline) -> None:
    """Complete a run that lacks trials; if it asks for `lab restore`, run that first."""
    folder = stage.run_folder()
    if folder is None or baseline.slots <= first.rows.keys():
        return
    code = stage.lab("run", "--resume", str(folder), *stage.write_to)
    if code == 2 and "lab restore" in stage.outputs[-1][2]:
        if stage.lab("restore") != 0:
            outcome.other.append("`lab restore` fails, though the hosts are as before")
        code = stage.lab("run", "--resume", str(folder), *stage.write_to)
    new = {trial: row for trial, row in trials.read(folder).rows.items() if trial not in first.rows}
    failed = [f"{trial} is {row['status']} in the resumed run: {row['reason']}" for trial, row in new.items()
              if row["status"] != "ok" and not trials.is_late(row)]  # fmt: skip
    outcome.other += failed
    if code != 0 and not failed and not any(map(trials.is_late, new.values())):
        outcome.other.append(f"the resumed run ended with exit code {code}")
