"""The command line of the fault matrix: ``python -m faults`` with tests/ on the path, as `make faults` calls it."""

import argparse
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # its threads do not survive a fork

# `lab run` imports this late: import it once here, not in thousands of processes
from lab.hosts.ssh import CONNECT
from lab.local import state

from . import clock, plan
from .cell import Baseline, Cell, Outcome, measure, play
from .inject import Fault
from .kinds import DURING, KINDS, WHENS
from .labs import Kind, Place, places, spread

COLUMNS = ("injected", "self-restored", "needed restore", "dirty", "lost trials", "wrong ok", "other")


def baselines(labs: list[Place], sweeps: Sequence[str], seed: int) -> dict[str, Baseline]:
    """Run each sweep twice without faults, and print where the two send different commands."""
    runs = {name for name in sweeps if name != plan.RESTORE} | ({plan.KILLED[0]} if plan.RESTORE in sweeps else set())
    measured = _measured(labs, sorted(runs), seed, None)
    if plan.RESTORE in sweeps:
        sweep, host, words = plan.KILLED
        killed = plan.first(measured[sweep], host, words, "SIGKILL", "after"), measured[sweep]
        measured |= _measured(labs, [plan.RESTORE], seed, killed)
    return {name: measured[name] for name in sweeps}


def _measured(
    labs: list[Place], sweeps: Sequence[str], seed: int, killed: tuple[Fault, Baseline] | None
) -> dict[str, Baseline]:
    def work(place: Place, task: tuple[str, int]) -> Baseline:
        return measure(place.bench.name, place.hosts, place.sweep(task[0], seed), killed)

    tasks = [(name, turn) for name in sweeps for turn in (1, 2)]
    measured = {task: baseline for _, task, baseline in spread(work, tasks, labs)}
    for name in sweeps:
        first, second = measured[name, 1].sent, measured[name, 2].sent
        differ = [site for site in first if site not in second or first[site].text != second[site].text]
        note = f"; the second time {len(second)}, other from {differ[0]} on" if differ else ", twice the same"
        print(f"{name}: {len(first)} commands{note}", flush=True)
    return {name: measured[name, 1] for name in sweeps}


def conduct(labs: list[Place], cells: Sequence[Cell], known: dict[str, Baseline], seed: int) -> Iterator[Outcome]:
    """Play all cells, and print the progress."""

    def work(place: Place, cell: Cell) -> Outcome:
        sweep = place.sweep(cell.sweep, seed)
        return play(cell, place.observer, place.before, place.hosts, sweep, known[cell.sweep])

    started = time.monotonic()
    for number, (place, _, outcome) in enumerate(spread(work, cells, labs), 1):
        left_s = (time.monotonic() - started) / number * (len(cells) - number)
        ending = f"{outcome.cell.name}: {outcome.hosts}, {outcome.seconds:.1f} s"
        print(f"[{number}/{len(cells)}, {left_s / 60:.0f} min left] {ending}", flush=True)
        if outcome.dirt:
            place.down()
            place.up()
        yield outcome


def names(known: Sequence[str]) -> Callable[[str], list[str]]:
    """A parser of names between commas."""

    def parse(text: str) -> list[str]:
        if strange := set(text.split(",")) - set(known):
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(strange))}: not of {', '.join(known)}")
        return text.split(",")

    return parse


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="faults", description="Break a run at every command that it sends.")
    add = parser.add_argument
    add("--seed", type=int, default=1, help="of the order of cases and cells, and of the share")
    add("--kinds", type=names(tuple(KINDS)), default=",".join(KINDS), help="kinds of fault (default: %(default)s)")
    add("--whens", type=names(WHENS), default=",".join(WHENS), help="when in a command (default: %(default)s)")
    add("--sweeps", type=names(plan.NAMES), help=f"of {', '.join(plan.NAMES)} (default: all that the server can have)")
    add("--share", type=float, default=1.0, help="of all cells, at random (default: all)")
    add("--each", type=int, metavar="N", help="N of those that are alike in sweep, kind and time")
    add("--jobs", type=int, default=2, help="local labs side by side (default: %(default)s)")
    add("--platform", action="append", default=[], help="as `lab local up` takes it (default: Linux)")
    add("--clients", type=int, choices=(1, 3), default=1, help="with 3 the sweep `clients` (default: 1)")
    add("--zfs", action="store_true", help="between guests that have ZFS, with the sweep `pool`")
    add("--transport", choices=sorted(CONNECT), default="paramiko", help="(default: %(default)s)")
    add("--stories", type=Path, metavar="DIR", help="all that was said and sent in each cell, a file each")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--only", nargs="+", type=plan.parse, metavar="CELL", help="these, and all that was said in them"
    )
    choice.add_argument("--sample", choices=sorted(plan.SAMPLES), help="the few that the test suite has")
    return parser.parse_args()


def again(options: argparse.Namespace) -> str:
    """The options that repeat the same labs and the same numbers of commands."""
    words = [f"--seed {options.seed}", f"--transport {options.transport}"]
    words += [f"--clients {options.clients}"] if options.clients > 1 else []
    words += ["--zfs"] if options.zfs else []
    return " ".join([*words, *(f"--platform {platform}" for platform in options.platform)])


def impossible(options: argparse.Namespace) -> set[str]:
    are = {
        "guests": options.zfs, "mac": bool(options.platform), "one client": options.clients == 1,
        "no clock": not clock.is_possible(),
    }  # fmt: skip
    return {name for name, kind in KINDS.items() if any(are[labs] for labs in kind.not_in)}


def play_all(options: argparse.Namespace, outcomes: list[Outcome]) -> None:
    """Bring labs up and play; adds each outcome to ``outcomes`` at once."""
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
                print(complaint(outcome, again(options)), flush=True)
            if options.only:
                print(outcome.story, flush=True)


def table(outcomes: Iterable[Outcome]) -> str:
    """A row for each kind of fault and time, a column for each outcome."""
    rows: dict[tuple[str, str], list[int]] = {(kind, when): [0] * len(COLUMNS) for kind in KINDS for when in WHENS}
    for outcome in outcomes:
        fault = outcome.cell.fault
        counts = (
            outcome.command != "", outcome.hosts == "self", outcome.hosts == "restore", outcome.hosts == "dirty",
            bool(outcome.lost), bool(outcome.wrong), bool(outcome.other),
        )  # fmt: skip
        row = rows[fault.kind, fault.when]
        row[:] = [sum(pair) for pair in zip(row, counts, strict=True)]
    totals = [sum(column) for column in zip(*rows.values(), strict=True)]
    lines = [_line("fault", COLUMNS)]
    lines += [_line(f"{kind} {when}", row) for (kind, when), row in rows.items() if any(row)]
    return "\n".join([*lines, _line("all", totals)])


def _line(name: str, values: Iterable[object]) -> str:
    cells = zip(values, COLUMNS, strict=True)
    return f"{name:30}" + "".join(f"{value!s:>{len(column) + 2}}" for value, column in cells)


def complaint(outcome: Outcome, again: str) -> str:
    """What is wrong with a cell, and how to repeat it; ``again`` are the options of the same labs."""
    lines = [f"{outcome.cell.name}: {outcome.command[:200] or 'not injected'}"]
    for name in ("dirt", "lost", "wrong", "other"):
        lines += [f"    {name}: {line}" for line in getattr(outcome, name)]
    return "\n".join([*lines, f"    again: make faults FAULTS='{again} --only {outcome.cell.name}'"])


def main() -> int:
    """Run the matrix; exit code 1 if a cell is bad."""
    options, started, outcomes = arguments(), time.monotonic(), list[Outcome]()
    if clock.is_possible():
        clock.load()
    gc.freeze()  # imported objects stay: no fork need look for cycles among them
    state.need_root()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that labs are taken down
    try:
        play_all(options, outcomes)
    except KeyboardInterrupt:
        print("stopped: what follows is what was done so far")
    finally:
        clock.unload()
    print(table(outcomes))
    bad = [outcome for outcome in outcomes if outcome.bad]
    for outcome in bad:
        print(complaint(outcome, again(options)))
    print(f"{len(outcomes)} cells, {len(bad)} bad, seed {options.seed}, {(time.monotonic() - started) / 60:.1f} min")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
