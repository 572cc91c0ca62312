"""The fault matrix: ``python -m faults``, with the folder of the tests on the path; ``make faults`` does it."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import connection
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads of its own do not survive a fork

from bench import Bench

# what `lab run` imports when it comes to it: once here, not in each of thousands of processes
from lab.local import kernel, state

from . import matrix, plan
from .cell import Baseline, Cell, Outcome, measure, play
from .inject import KINDS, Fault
from .observe import Observer, State

# Instead of a second each time, as many bytes as a moment takes
IPERF3 = """#!/bin/sh
case " $* " in *" --client "*) set -- $(echo "$*" | sed 's/--time [0-9]*/--bytes 4M/') ;; esac
exec /usr/bin/iperf3 "$@"
"""
FORK = multiprocessing.get_context("fork")


class Place:
    """A local lab where cells are played, one at a time."""

    def __init__(self, name: str, folder: Path):
        self.bench = Bench(name, folder)
        self.up()

    def up(self) -> None:
        """Bring it up, and note how it is."""
        self.bench.up()
        self.observer = Observer(self.bench.name)
        for host in state.HOSTS:
            program = Path(f"/proc/{self.observer.init(host)}/root/usr/local/bin/iperf3")
            program.write_text(IPERF3)
            program.chmod(0o755)
        small = {"client_ram_disk": "64 MiB", "server_ram_disk": "64 MiB", "share_path": "/srv"}
        self.hosts = self.bench.changed_hosts(**small)
        self.before: State = self.observer.state()

    def down(self) -> None:
        """Take it down."""
        self.bench.lab("local", "down", "--name", self.bench.name)

    def sweep(self, name: str, seed: int) -> Path:
        """The file of a sweep."""
        name = plan.KILLED[0] if name == plan.RESTORE else name
        path = self.bench.directory / f"{name}.toml"
        path.write_text(plan.SWEEP.format(name=name, seed=seed, factors=plan.SWEEPS[name]))
        return path


@contextmanager
def places(count: int) -> Iterator[list[Place]]:
    """So many local labs, side by side."""
    with tempfile.TemporaryDirectory(prefix="file-share-lab-faults-") as folder:
        made: list[Place] = []
        try:
            for number in range(count):
                directory = Path(folder) / str(number)
                directory.mkdir()
                made.append(Place(f"faults-{os.getpid()}-{number}", directory))
            yield made
        finally:
            for place in made:
                place.down()


def apart(work: Any, *arguments: Any) -> tuple[connection.Connection, Any]:
    """Start work in a process of its own; its result comes through the connection, and ends it."""
    ours, theirs = FORK.Pipe(duplex=False)
    parent = os.getpid()

    def job() -> None:
        kernel.die_with_parent(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the matrix, which ends this
        theirs.send(work(*arguments))

    process = FORK.Process(target=job, daemon=True)
    process.start()
    theirs.close()
    return ours, process


def spread(work: Any, tasks: Sequence[Any], free: list[Place]) -> Iterator[tuple[Place, Any, Any]]:
    """Do ``work(place, task)`` for each task, in processes of their own, one a place; yields as they are done."""
    waiting = deque(tasks)
    running: dict[Any, tuple[Place, Any, Any]] = {}
    places_free = list(free)
    try:
        while waiting or running:
            while waiting and places_free:
                place, task = places_free.pop(), waiting.popleft()
                ours, process = apart(work, place, task)
                running[ours] = (place, task, process)
            done: Any
            for done in connection.wait(list(running)):
                place, task, process = running[done]
                try:
                    result = done.recv()
                except EOFError:
                    raise SystemExit(f"faults: {task}: the harness itself failed") from None
                process.join()
                del running[done]
                yield place, task, result
                places_free.append(place)
    finally:
        for _, _, process in running.values():
            process.kill()
            process.join()


def baselines(labs: list[Place], sweeps: Sequence[str], seed: int) -> dict[str, Baseline]:
    """Each sweep twice without faults; says where the two differ in what they send."""
    runs = {name for name in sweeps if name != plan.RESTORE} | ({plan.KILLED[0]} if plan.RESTORE in sweeps else set())
    found = _measured(labs, sorted(runs), seed, None)
    if plan.RESTORE in sweeps:
        sweep, words = plan.KILLED
        killed = plan.first(found[sweep], words, "SIGKILL", "after"), found[sweep]
        found |= _measured(labs, [plan.RESTORE], seed, killed)
    return {name: found[name] for name in sweeps}


def _measured(
    labs: list[Place], sweeps: Sequence[str], seed: int, killed: tuple[Fault, Baseline] | None
) -> dict[str, Baseline]:
    def work(place: Place, task: tuple[str, int]) -> Baseline:
        return measure(place.bench.name, place.hosts, place.sweep(task[0], seed), killed)

    tasks = [(name, turn) for name in sweeps for turn in (1, 2)]
    found = {task: baseline for _, task, baseline in spread(work, tasks, labs)}
    for name in sweeps:
        first, second = found[name, 1].sent, found[name, 2].sent
        differ = [site for site in first if site not in second or first[site].text != second[site].text]
        note = f"; the second time {len(second)}, other from {differ[0]} on" if differ else ", twice the same"
        print(f"{name}: {len(first)} commands{note}", flush=True)
    return {name: found[name, 1] for name in sweeps}


def conduct(labs: list[Place], cells: Sequence[Cell], known: dict[str, Baseline], seed: int) -> Iterator[Outcome]:
    """Play all cells; says how far it is."""

    def work(place: Place, cell: Cell) -> Outcome:
        sweep = place.sweep(cell.sweep, seed)
        return play(cell, place.observer, place.before, place.hosts, sweep, known[cell.sweep])

    started = time.monotonic()
    for done, (place, _, outcome) in enumerate(spread(work, cells, labs), 1):
        left_s = (time.monotonic() - started) / done * (len(cells) - done)
        ending = f"{outcome.cell.name}: {outcome.hosts}, {outcome.seconds:.1f} s"
        print(f"[{done}/{len(cells)}, {left_s / 60:.0f} min left] {ending}", flush=True)
        if outcome.dirt:
            place.down()
            place.up()
        yield outcome


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="faults", description="Break a run at every command that it sends.")
    parser.add_argument("--seed", type=int, default=1, help="of the order of cases and cells, and of the share")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of fault (default: %(default)s)")
    parser.add_argument("--sweeps", default=",".join(plan.NAMES), help="(default: %(default)s)")
    parser.add_argument("--share", type=float, default=1.0, help="of all cells, at random (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="local labs side by side (default: %(default)s)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--only", nargs="+", type=plan.parse, metavar="CELL", help="these, and all that was said in them")
    what.add_argument("--sample", action="store_true", help="the few that the test suite has")
    return parser.parse_args()


def play_all(options: argparse.Namespace, outcomes: list[Outcome]) -> None:
    """Bring labs up, plan, play; what became of each cell is added to ``outcomes`` at once."""
    sweeps = options.sweeps.split(",")
    if options.only or options.sample:
        sweeps = sorted({cell.sweep for cell in options.only} if options.only else {row[0] for row in plan.SAMPLE})
    with places(options.jobs) as labs:
        known = baselines(labs, sweeps, options.seed)
        cells = options.only or plan.cells(known, options.kinds.split(","), options.share, options.seed)
        if options.sample:
            cells = plan.sample(known)
        print(f"{len(cells)} cells, seed {options.seed}", flush=True)
        for outcome in conduct(labs, cells, known, options.seed):
            outcomes.append(outcome)
            if outcome.bad:
                print(matrix.complaint(outcome, options.seed), flush=True)
            if options.only:
                print(outcome.story, flush=True)


def main() -> int:
    """Run the matrix, or as much of it as there is time for; exit code 1 where any cell is bad."""
    options, started, outcomes = arguments(), time.monotonic(), list[Outcome]()
    state.need_root()
    try:
        play_all(options, outcomes)
    except KeyboardInterrupt:
        print("stopped: what follows is what was done so far")
    print(matrix.table(outcomes))
    bad = [outcome for outcome in outcomes if outcome.bad]
    for outcome in bad:
        print(matrix.complaint(outcome, options.seed))
    print(f"{len(outcomes)} cells, {len(bad)} bad, seed {options.seed}, {(time.monotonic() - started) / 60:.1f} min")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
