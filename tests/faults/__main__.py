"""The fault matrix: ``python -m faults``, with the folder of the tests on the path; ``make faults`` does it."""

import argparse
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads of its own do not survive a fork

# what `lab run` imports when it comes to it: once here, not in each of thousands of processes
from lab.hosts.ssh import CONNECT
from lab.local import state

from . import clock, matrix, plan
from .cell import Baseline, Cell, Outcome, measure, play
from .inject import Fault
from .kinds import DURING, KINDS, WHENS
from .labs import Kind, Place, places, spread


def baselines(labs: list[Place], sweeps: Sequence[str], seed: int) -> dict[str, Baseline]:
    """Each sweep twice without faults; says where the two differ in what they send."""
    runs = {name for name in sweeps if name != plan.RESTORE} | ({plan.KILLED[0]} if plan.RESTORE in sweeps else set())
    found = _measured(labs, sorted(runs), seed, None)
    if plan.RESTORE in sweeps:
        sweep, host, words = plan.KILLED
        killed = plan.first(found[sweep], host, words, "SIGKILL", "after"), found[sweep]
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


def names(known: Sequence[str]) -> Callable[[str], list[str]]:
    """How the command line takes some of the known names, with commas between."""

    def parse(text: str) -> list[str]:
        if strange := set(text.split(",")) - set(known):
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(strange))}: not of {', '.join(known)}")
        return text.split(",")

    return parse


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="faults", description="Break a run at every command that it sends.")
    parser.add_argument("--seed", type=int, default=1, help="of the order of cases and cells, and of the share")
    parser.add_argument(
        "--kinds", type=names(tuple(KINDS)), default=",".join(KINDS), help="kinds of fault (default: %(default)s)"
    )
    parser.add_argument(
        "--whens", type=names(WHENS), default=",".join(WHENS), help="when in a command (default: %(default)s)"
    )
    parser.add_argument(
        "--sweeps", type=names(plan.NAMES), help=f"of {', '.join(plan.NAMES)} (default: all that the server can have)"
    )
    parser.add_argument("--share", type=float, default=1.0, help="of all cells, at random (default: all)")
    parser.add_argument("--each", type=int, metavar="N", help="N of those that are alike in sweep, kind and time")
    parser.add_argument("--jobs", type=int, default=2, help="local labs side by side (default: %(default)s)")
    parser.add_argument("--platform", action="append", default=[], help="as `lab local up` takes it (default: Linux)")
    parser.add_argument(
        "--clients", type=int, choices=(1, 3), default=1, help="with 3 the sweep `clients` (default: 1)"
    )
    parser.add_argument("--zfs", action="store_true", help="between guests that have ZFS, with the sweep `pool`")
    parser.add_argument("--transport", choices=sorted(CONNECT), default="paramiko", help="(default: %(default)s)")
    parser.add_argument(
        "--stories", type=Path, metavar="DIR", help="all that was said and sent in each cell, a file each"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--only", nargs="+", type=plan.parse, metavar="CELL", help="these, and all that was said in them")
    what.add_argument("--sample", choices=sorted(plan.SAMPLES), help="the few that the test suite has")
    return parser.parse_args()


def again(options: argparse.Namespace) -> str:
    """What has the same labs and the same commands at the same numbers."""
    words = [f"--seed {options.seed}", f"--transport {options.transport}"]
    words += [f"--clients {options.clients}"] if options.clients > 1 else []
    words += ["--zfs"] if options.zfs else []
    return " ".join([*words, *(f"--platform {platform}" for platform in options.platform)])


def impossible(options: argparse.Namespace) -> set[str]:
    """The kinds of fault that these labs cannot have."""
    are = {
        "guests": options.zfs, "mac": bool(options.platform), "one client": options.clients == 1,
        "no clock": not clock.is_possible(),
    }  # fmt: skip
    return {name for name, kind in KINDS.items() if any(are[labs] for labs in kind.not_in)}


def play_all(options: argparse.Namespace, outcomes: list[Outcome]) -> None:
    """Bring labs up, plan, play; what became of each cell is added to ``outcomes`` at once."""
    kind = Kind(tuple(options.platform), options.transport, options.clients, options.zfs)
    sweeps = options.sweeps or plan.usual(kind.has_mac_server, kind.clients, kind.zfs)
    if options.only:
        sweeps = sorted({cell.sweep for cell in options.only})
    elif options.sample:
        sweeps = [name for name in sweeps if name in {row[0] for row in plan.SAMPLES[options.sample]}]
    with places(options.jobs, kind) as labs:
        known = baselines(labs, sweeps, options.seed)
        kinds = [kind for kind in options.kinds if kind not in impossible(options)]
        whens = [when for when in options.whens if when != DURING or not (options.platform or options.zfs)]
        cells = options.only or plan.cells(known, kinds, whens, options.share, options.each, options.seed)
        if options.sample:
            cells = plan.sample(known, options.sample)
        if missing := [cell.name for cell in cells if cell.fault.site not in known[cell.sweep].sent]:
            raise SystemExit(f"faults: with seed {options.seed} there is no such command: {', '.join(missing)}")
        print(f"{len(cells)} cells, seed {options.seed}", flush=True)
        for outcome in conduct(labs, cells, known, options.seed):
            outcomes.append(outcome)
            if options.stories:
                options.stories.mkdir(parents=True, exist_ok=True)
                (options.stories / outcome.cell.name.replace("/", "_")).write_text(outcome.story)
            if outcome.bad:
                print(matrix.complaint(outcome, again(options)), flush=True)
            if options.only:
                print(outcome.story, flush=True)


def main() -> int:
    """Run the matrix, or as much of it as there is time for; exit code 1 where any cell is bad."""
    options, started, outcomes = arguments(), time.monotonic(), list[Outcome]()
    if clock.is_possible():
        clock.load()
    gc.freeze()  # what is imported stays: no fork need look for cycles in it
    state.need_root()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no lab may stay up
    try:
        play_all(options, outcomes)
    except KeyboardInterrupt:
        print("stopped: what follows is what was done so far")
    print(matrix.table(outcomes))
    bad = [outcome for outcome in outcomes if outcome.bad]
    for outcome in bad:
        print(matrix.complaint(outcome, again(options)))
    print(f"{len(outcomes)} cells, {len(bad)} bad, seed {options.seed}, {(time.monotonic() - started) / 60:.1f} min")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
