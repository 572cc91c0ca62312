"""One cell of the matrix: a run with a fault in it, and what became of the hosts and of the trials."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lab import cli
from lab.local import kernel, state

from . import inject, space, trials
from .inject import Fault, Sent
from .observe import Observer, State, difference

RUN_DEADLINE_S = 180.0
SETTLE_S = 3.0


@dataclass(frozen=True)
class Cell:
    """A fault in a sweep."""

    sweep: str
    fault: Fault

    @property
    def name(self) -> str:
        """As the command line takes it."""
        fault = self.fault
        return f"{self.sweep}/{fault.role}-{fault.number}/{fault.kind}/{fault.when}"


@dataclass(frozen=True)
class Baseline:
    """A sweep without faults: the commands that it sends, and the trials that come of it."""

    sent: dict[str, Sent]
    trials: dict[str, trials.Row]

    @property
    def slots(self) -> set[str]:
        """The trials that every run must come to; without the ceilings, which come with them."""
        return {trial for trial, row in self.trials.items() if row["protocol"] != "link"}


@dataclass
class Outcome:
    """What became of a cell. ``hosts`` is ``self``, ``restore`` or ``dirty``, and empty where nothing was injected."""

    cell: Cell
    command: str = ""
    hosts: str = ""
    dirt: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    story: str = ""
    seconds: float = 0.0

    @property
    def bad(self) -> bool:
        """Whether anything is not as it must be."""
        return bool(self.dirt or self.lost or self.wrong or self.other)


class Stage:
    """Where `lab` commands run for one cell: a folder, with results on a small file system of their own."""

    def __init__(self, hosts: Path, sweep: Path):
        self.folder = Path(tempfile.mkdtemp(prefix="cell-", dir=hosts.parent))
        self.results = self.folder / "results"
        self.hosts, self.sweep = hosts, sweep
        self.outputs: list[tuple[str, int, str]] = []

    def __enter__(self) -> Stage:
        kernel.keep_mounts_private()
        space.make_results(self.results)
        return self

    def __exit__(self, *_: object) -> None:
        space.remove_results(self.results)
        shutil.rmtree(self.folder)

    def lab(self, *arguments: str, prepare: Callable[[], None] = lambda: None) -> int:
        """Run a `lab` command in a process of its own, after ``prepare``; its exit code, negative for a signal."""
        path = self.folder / f"output-{len(self.outputs)}"
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            os.setsid()
            kernel.die_with_parent(parent)
            os.chdir(self.folder)
            output = os.open(path, os.O_WRONLY | os.O_CREAT)
            os.dup2(output, 1)
            os.dup2(output, 2)
            prepare()
            os._exit(cli.main(arguments))
        code = _wait(pid)
        self.outputs.append((f"lab {' '.join(arguments)}", code, path.read_text(errors="replace")))
        return code

    def run(self, prepare: Callable[[], None]) -> int:
        """Run the sweep."""
        return self.lab("run", "--hosts", str(self.hosts), str(self.sweep), prepare=prepare)

    def run_folder(self) -> Path | None:
        """The folder of the run; None where it came to none."""
        return next((path for path in self.results.iterdir() if path.is_dir()), None)

    def story(self) -> str:
        """Everything that was said, and the commands around the fault, for a person to read."""
        folder = self.run_folder()
        log = folder / "commands.log" if folder else None
        commands = log.read_text(errors="replace") if log and log.exists() else ""
        said = [f"$ {command}\n{output.strip()}\n(exit code {code})" for command, code, output in self.outputs]
        return "\n".join([*said, "commands.log:", commands])


def _wait(pid: int) -> int:
    deadline = time.monotonic() + RUN_DEADLINE_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise TimeoutError(f"`lab` did not end in {RUN_DEADLINE_S:g} s")


def measure(name: str, hosts: Path, sweep: Path) -> Baseline:
    """Run a sweep without faults. It must succeed."""
    with Stage(hosts, sweep) as stage:
        target = stage.folder / "sent"
        code = stage.run(lambda: inject.record(name, target))
        assert code == 0, f"the sweep {sweep.stem} fails without any fault:\n{stage.story()}"
        sent = [Sent(**json.loads(line)) for line in target.read_text().splitlines()]
        return Baseline({each.site: each for each in sent}, trials.read(stage.run_folder()).rows)


def play(cell: Cell, observer: Observer, before: State, hosts: Path, sweep: Path, baseline: Baseline) -> Outcome:
    """Run one cell on a local lab whose hosts are as in ``before``."""
    started = time.monotonic()
    outcome = Outcome(cell)
    with Stage(hosts, sweep) as stage:
        try:
            _play(outcome, stage, observer, before, baseline)
        except TimeoutError as error:
            outcome.other.append(str(error))
        outcome.story = stage.story()
    outcome.seconds = time.monotonic() - started
    return outcome


def _play(outcome: Outcome, stage: Stage, observer: Observer, before: State, baseline: Baseline) -> None:
    fault = outcome.cell.fault
    usual = baseline.sent[f"{fault.role}-{fault.number}"]
    target = stage.folder / "injected"
    sizes = {place: size for host in state.HOSTS for place, size in space.places(observer.name, host).items()}
    stage.run(lambda: inject.inject(observer.name, fault, usual.elapsed_s, target))
    space.lift(sizes)
    space.lift_controller(stage.results)
    if not target.exists():
        outcome.other.append("the run never came to this command")
        outcome.command = usual.text
        return
    struck = Sent(**json.loads(target.read_text()))
    outcome.command = struck.text
    _look_at_hosts(outcome, stage, observer, before)
    first = trials.read(stage.run_folder())
    if stage.run_folder() is not None:
        _resume(outcome, stage, first, baseline)
        last = trials.read(stage.run_folder())
        outcome.lost = trials.lost(first, last, baseline.slots)
        outcome.wrong = trials.wrong(first, last, baseline.trials, struck.trial if _spoils(fault) else None)
        if not outcome.dirt:
            outcome.dirt = [f"after the resumed run: {line}" for line in _settled(observer, before)]
            outcome.hosts = "dirty" if outcome.dirt else outcome.hosts
    outcome.other += [f"`{command}` printed a traceback" for command, _, said in stage.outputs if "Traceback" in said]


def _spoils(fault: Fault) -> bool:
    return fault.kind in inject.SPOILS


def _look_at_hosts(outcome: Outcome, stage: Stage, observer: Observer, before: State) -> None:
    """Whether the run put its hosts back, or `lab restore` did."""
    outcome.hosts = "self"
    if _settled(observer, before):
        outcome.hosts = "restore"
        code = stage.lab("restore")
        outcome.dirt = _settled(observer, before)
        if outcome.dirt:
            outcome.hosts = "dirty"
        if code != 0:
            outcome.other.append(f"`lab restore` ended with exit code {code}")


def _settled(observer: Observer, before: State) -> list[str]:
    """How the hosts differ from before, once that is only what stays: a process may be about to end."""
    observer.settle()
    deadline = time.monotonic() + SETTLE_S
    while True:
        found = difference(before, observer.state())
        if all(": process " not in line for line in found) or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def _resume(outcome: Outcome, stage: Stage, first: trials.Kept, baseline: Baseline) -> None:
    """Complete the run, where trials are missing; after `lab restore`, where it asks for that."""
    folder = stage.run_folder()
    if folder is None or baseline.slots <= first.rows.keys():
        return
    code = stage.lab("run", "--resume", str(folder))
    if code == 2 and "lab restore" in stage.outputs[-1][2]:
        if stage.lab("restore") != 0:
            outcome.other.append("`lab restore` fails, though the hosts are as before")
        code = stage.lab("run", "--resume", str(folder))
    new = {trial: row for trial, row in trials.read(folder).rows.items() if trial not in first.rows}
    failed = [f"{trial} is {row['status']} in the resumed run: {row['reason']}" for trial, row in new.items()
              if row["status"] != "ok"]  # fmt: skip
    outcome.other += failed
    if code != 0 and not failed:
        outcome.other.append(f"the resumed run ended with exit code {code}")
