"""Do the lab's numbers tell the truth? On a local lab, against clocks and effects that are known.

``python benchmarks/truth.py clock``     the lab's seconds against the time stamps of the packets on the data link
``python benchmarks/truth.py placebo``   two levels that are the same: how often do 95 % intervals miss? (5 % is right)
``python benchmarks/truth.py injected``  a link that is 5, 10 and 30 % slower for one level: is that what is found?
``python benchmarks/truth.py tools``     the lab against commands typed by hand and against hyperfine, on one mount

``--blocks N`` and ``--seed N`` change how much is run, and in which order.
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import json
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
from bench_lab import BenchLab, FinishedRun, bench_lab, opened
from scipy.stats import binomtest

from lab import stats
from lab.design.case import Case
from lab.design.factors import OPTIONS, Direction
from lab.hosts import Role
from lab.results import run_folder
from lab.run import lifecycle
from lab.run.case.session import Session
from lab.run.runner import Progress
from lab.run.transfer.transfer import transfer

CLOCK = Path(__file__).with_name("packet_clock.py")
EVERYTHING: dict[str, Sequence[Any]] = {"protocol": ["afp", "smb", "nfs", "ssh"], "tool": ["cp", "rsync"]}
Packet = tuple[int, int, str]  # nanoseconds, bytes of payload, ports
BLOCKS_A_SWEEP = 6
BLOCKS_A_PLACEBO = 3  # the lab's own default
PLACEBO_BLOCKS = 99  # 462 intervals: they tell 5 % from 3 and from 7.5
RATE_MBIT = 200
INJECTED_MBIT, SLOWER = 100, (5, 10, 30)  # percent
BURST = 32 << 10  # bytes: a pause of a program refills no more than 2.6 ms of link
QUEUE = 16 << 20  # bytes: holds a whole payload, for a slower link that loses packets is changed in two ways
PAUSE_NS = 200_000_000


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("clock", "placebo", "injected", "tools"))
    parser.add_argument("--blocks", type=int)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    command = {"clock": clock, "placebo": placebo, "injected": injected, "tools": tools}[arguments.what]
    command(arguments.blocks, arguments.seed)


def clock(blocks: int | None, seed: int) -> None:
    """The seconds of each trial against the first and the last of its packets, by the kernel's own time stamps."""
    with bench_lab("--rate", f"{RATE_MBIT}mbit") as lab:
        stamps = lab.folder / "stamps"
        command = [sys.executable, str(CLOCK), str(lab.pid("client")), str(stamps)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as listener:
            assert listener.stdout is not None
            listener.stdout.readline()
            finished = lab.run(EVERYTHING, size="16 MiB", blocks=blocks or 3, seed=seed)
            time.sleep(1)
            listener.terminate()
        frames = [line.split() for line in stamps.read_text().splitlines()]
    print(f"{len(finished.trials)} transfers of 16 MiB at {RATE_MBIT} Mbit/s; lab's seconds less those of the packets")
    print(f"{'':22}{'n':>4}{'median ms':>11}{'least':>8}{'most':>8}{'median %':>10}{'packets over payload':>22}")
    compared = list(against_packets(finished, frames))
    for name in sorted({name for name, *_ in compared}):
        same = [(lab_s, wire_s, share) for of_case, lab_s, wire_s, share in compared if of_case == name]
        over = [1000 * (lab_s - wire_s) for lab_s, wire_s, _ in same]
        percent = statistics.median(100 * (lab_s / wire_s - 1) for lab_s, wire_s, _ in same)
        share = statistics.median(share for *_, share in same)
        print(f"{name:22}{len(same):4}{statistics.median(over):11.1f}{min(over):8.1f}{max(over):8.1f}"
              f"{percent:10.2f}{share:22.4f}")  # fmt: skip
    below = sum(lab_s < wire_s for _, lab_s, wire_s, _ in compared)
    print(f"shorter than the packets say (must not be): {below} of {len(compared)}")


def against_packets(finished: FinishedRun, frames: list[list[str]]) -> Iterator[tuple[str, float, float, float]]:
    """For each trial: name, the lab's seconds, seconds from first to last packet, packets' payload over the file's."""
    ways = {"write": "tx", "read": "rx"}
    packets: dict[str, list[Packet]] = {way: [] for way in ways.values()}
    for at, way, size, ports in frames:
        packets[way].append((int(at), int(size), ports))
    starts = [round(datetime.fromisoformat(trial["started_at"]).timestamp() * 1e9) for trial in finished.trials]
    ends = [*starts[1:], starts[-1] + 60 * 10**9]
    for trial, start, end in zip(finished.trials, starts, ends, strict=True):
        mine = packets[ways[trial["direction"]]]
        mine = longest_burst(mine[bisect.bisect(mine, (start, 0, "")) : bisect.bisect(mine, (end, 0, ""))])
        name = f"{trial['protocol']} {trial['tool']} {trial['direction']}"
        moved = sum(size for _, size, _ in mine)
        yield name, trial["elapsed_s"], (mine[-1][0] - mine[0][0]) / 1e9, moved / trial["size_bytes"]


def longest_burst(packets: list[Packet]) -> list[Packet]:
    """The packets of a transfer: of the connection with most bytes, the most between pauses of 0.2 s."""
    moved: Counter[str] = Counter()
    for _, size, ports in packets:
        moved[ports] += size
    carrier = max(moved, key=lambda ports: moved[ports])
    packets = [packet for packet in packets if packet[2] == carrier]
    pauses = [number for number in range(1, len(packets)) if packets[number][0] - packets[number - 1][0] > PAUSE_NS]
    bursts = [packets[begin:end] for begin, end in itertools.pairwise([0, *pauses, len(packets)])]
    return max(bursts, key=lambda burst: sum(size for _, size, _ in burst))


def placebo(blocks: int | None, seed: int) -> None:
    """A/A: sweeps of three blocks that compare a setting with itself, by transfers so small that they are all noise.

    No two intervals share a transfer, and which of a pair comes first is drawn for each: those of a sweep have
    only the weather in common. Were that to matter, misses would come in clusters: their variance over sweeps says so.
    """
    sweeps = max(1, (blocks or PLACEBO_BLOCKS) // BLOCKS_A_PLACEBO)
    total = sweeps * BLOCKS_A_PLACEBO
    with bench_lab("--rate", "1gbit") as lab:
        finished = lab.run(EVERYTHING | {"placebo": ["A", "B"]}, size="64 KiB", blocks=total, seed=seed)
        trials = run_folder.load(finished.folder)
    effects = effects_by_sweep(trials, "placebo", BLOCKS_A_PLACEBO).dropna(subset="low_pct")
    effects["missed"] = (effects["low_pct"] > 0) | (effects["high_pct"] < 0)
    print(f"{sweeps} A/A sweeps of {BLOCKS_A_PLACEBO} blocks, {len(finished.trials)} transfers of 64 KiB; "
          f"{total} blocks took {finished.wall_s:.0f} s, {finished.wall_s / total:.1f} s each")  # fmt: skip
    print(f"95 % intervals without 0: {share(effects['missed'])}")
    by_sweep, rate = effects.groupby("sweep")["missed"].agg(["sum", "size"]), effects["missed"].mean()
    expected = (by_sweep["size"] * rate * (1 - rate)).mean()
    print(f"variance of misses over sweeps / binomial (independent: 1): {by_sweep['sum'].var() / expected:.2f}")
    adjusted = effects.groupby("sweep")["established"].any()
    print(f"sweeps in which anything was called established (Holm): {adjusted.sum()} of {len(adjusted)}")
    print(f"median half-width of an interval: {(effects['high_pct'] - effects['low_pct']).median() / 2:.1f} %")


def share(outcomes: pd.Series[bool]) -> str:
    """How many are true, of how many, and the percentage with its exact 95 % interval."""
    low, high = binomtest(int(outcomes.sum()), len(outcomes)).proportion_ci()
    return f"{outcomes.sum()} of {len(outcomes)}: {100 * outcomes.mean():.1f} %, {100 * low:.1f} to {100 * high:.1f}"


def injected(blocks: int | None, seed: int) -> None:
    """Effects that are known: the link has another rate for each level of the placebo.

    A transfer takes ``fixed_s`` + (``wire_bytes`` − BURST) / rate. The kernel keeps the rate and counts the bytes. A
    transfer's time off the link is taken from the other pairs of levels, so a pair's expectation contains none of its
    own measurements. It is taken from the same blocks, because it changes with the machine's load.
    """
    full = {f"full{percent}": float(INJECTED_MBIT) for percent in SLOWER}
    rates = full | {f"slower{percent}": INJECTED_MBIT * (1 - percent / 100) for percent in SLOWER}
    with bench_lab("--rate", f"{INJECTED_MBIT}mbit") as lab:
        factors = EVERYTHING | {"placebo": list(rates)}
        sweep = lab.sweep(factors, size="8 MiB", blocks=blocks or BLOCKS_A_SWEEP, seed=seed)
        folder, _ = lifecycle.start(
            lab.hosts, sweep, lab.folder / "results", lifecycle.Supervision(slowing(lab, rates), print)
        )
        report_injected(with_parts(run_folder.load(folder.path), rates))


def report_injected(trials: pd.DataFrame) -> None:
    """What each pair of levels shows against what the other pairs make of its rates."""
    tables = []
    print(f"{'injected':>10}{'intervals':>11}{'with it':>9}{'bias, points':>14}{'half-width':>12}")
    for percent in SLOWER:
        paired = trials["placebo"].isin([f"full{percent}", f"slower{percent}"])
        effects = effects_by_sweep(trials[paired], "placebo", BLOCKS_A_SWEEP).dropna(subset="low_pct")
        effects["right_pct"] = expected_changes(trials[~paired], effects, percent)
        effects["held"] = effects["right_pct"].between(effects["low_pct"], effects["high_pct"])
        half = (effects["high_pct"] - effects["low_pct"]).median() / 2
        bias = (effects["change_pct"] - effects["right_pct"]).median()
        print(f"{-percent:9} %{len(effects):11}{effects['held'].sum():9}{bias:14.2f}{half:12.2f}")
        tables.append(effects)
    every = pd.concat(tables)
    print(f"95 % intervals with the right change: {share(every['held'])}")
    shown = ["protocol", "tool", "direction", "right_pct", "change_pct", "low_pct", "high_pct"]
    print(every[shown].round(2).to_string(index=False))


def with_parts(trials: pd.DataFrame, rates_mbit: dict[str, float]) -> pd.DataFrame:
    """The good transfers with the bytes that crossed the link towards the target, and the seconds spent off it."""
    good = stats.measured(trials)
    wire_bytes = good["wire_tx_bytes"].where(good["direction"] == "write", good["wire_rx_bytes"])
    on_link_s = link_seconds(wire_bytes, good["placebo"].map(rates_mbit).astype(float))
    return good.assign(wire_bytes=wire_bytes, fixed_s=good["elapsed_s"] - on_link_s)


def link_seconds(wire_bytes: pd.Series[float], rate_mbit: pd.Series[float] | float) -> pd.Series[float]:
    """How long the link takes for so many bytes, its burst passing at once."""
    return (wire_bytes - BURST) * 8e-6 / rate_mbit


def expected_changes(others: pd.DataFrame, rows: pd.DataFrame, percent: float) -> list[float]:
    """The change in speed, in percent, that a link so many percent slower makes in each row, by what others spent."""
    parts = others.groupby(list(stats.POOLED))[["fixed_s", "wire_bytes"]].mean()
    full = parts["fixed_s"] + link_seconds(parts["wire_bytes"], INJECTED_MBIT)
    slower = parts["fixed_s"] + link_seconds(parts["wire_bytes"], INJECTED_MBIT * (1 - percent / 100))
    changes = stats.percent_change(slower, full)
    return [float(changes[tuple(row)]) for row in rows[list(stats.POOLED)].to_numpy()]


def slowing(lab: BenchLab, rates_mbit: dict[str, float]) -> Callable[[Progress], None]:
    """A watcher that sets the rate of both ends of the link before each trial, by its placebo."""

    def watch(step: Progress) -> None:
        if step.trial is None:
            rate = f"{rates_mbit[step.slot.case.option('placebo')]:.3f}mbit"
            for host in ("client", "server"):
                change = f"tc qdisc change dev eth0 root tbf rate {rate} burst {BURST} limit {QUEUE}"
                enter = ["nsenter", "--target", str(lab.pid(host)), "--net", *change.split()]
                subprocess.run(enter, check=True, stdout=subprocess.DEVNULL)

    return watch


def effects_by_sweep(trials: pd.DataFrame, factor: str, blocks: int) -> pd.DataFrame:
    """The lab's own effects of a factor, of each so many blocks by themselves; without overall rows, which share their
    transfers with those below.
    """
    tables = []
    for first in range(1, int(trials["block"].max()) + 1, blocks):
        mine = trials[trials["block"].between(first, first + blocks - 1)]
        table = stats.effects(stats.grid(mine), [factor])
        tables.append(table[table["direction"] != stats.EVERY].assign(sweep=first))
    return pd.concat(tables, ignore_index=True)


def tools(blocks: int | None, seed: int) -> None:
    """The same copies through the same mount, timed in three ways that take turns."""
    hyperfine = shutil.which("hyperfine")
    rounds, options = blocks or 20, OPTIONS | {"client_sync": "close"}
    ways = {"lab": by_lab, "hand": by_hand} | ({"hyperfine": by_hyperfine} if hyperfine else {})
    print("" if hyperfine else "hyperfine is not installed: `apt-get install hyperfine`")
    print(f"64 MiB, {rounds} rounds, 1 Gbit/s; median seconds, and the median of the ratios to the lab's in a round")
    with bench_lab("--rate", "1gbit") as lab:
        if hyperfine:
            shutil.copy(hyperfine, f"/proc/{lab.pid('client')}/root/usr/local/bin/hyperfine")
        for protocol in ("smb", "nfs", "afp"):
            case = Case(
                protocol, "cp", Direction.WRITE, 1500, "default", "ram", "file", 64 << 20, tuple(options.items())
            )
            with opened(lab.hosts) as session:
                session.set_up(case)
                taken: dict[str, list[float]] = {name: [] for name in ways}
                for number in range(rounds):
                    for name in random.Random(f"{seed}/{number}").sample(list(ways), len(ways)):
                        taken[name].append(ways[name](session, case, f"{name}-{number}"))
            cells = [f"{name} {statistics.median(times):.4f}" for name, times in taken.items()]
            for name in list(ways)[1:]:
                ratios = sorted(mine / labs for mine, labs in zip(taken[name], taken["lab"], strict=True))
                low, high = stats.median_interval(ratios)
                cells.append(f"{name}/lab {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]")
            print(f"{protocol} cp write: " + ", ".join(cells), flush=True)


def by_lab(session: Session, case: Case, name: str) -> float:
    """Seconds as the lab takes them."""
    return transfer(session, case, name, 60).timing.elapsed_s


def by_hand(session: Session, case: Case, name: str) -> float:
    """Seconds as a person takes them: bash's own `time` around the copy."""
    source, target = files(session, case, name)
    typed = f"TIMEFORMAT=%3R; time cp --sparse=never --reflink=never {source} {target}; rm {source} {target}"
    return float(session.pair.hosts[Role.CLIENT].run("bash", "-c", typed, deadline_s=60).stderr)


def by_hyperfine(session: Session, case: Case, name: str) -> float:
    """Seconds as hyperfine takes them, one run and no shell."""
    source, target = files(session, case, name)
    copy = f"cp --sparse=never --reflink=never {source} {target}"
    kept = f"{session.pair.sides[Role.CLIENT].directory}/hyperfine.json"
    words = ["hyperfine", "--runs", "1", "-N", "--export-json", kept, "--style", "none", copy]
    session.pair.hosts[Role.CLIENT].run(*words, deadline_s=60)
    exported = session.pair.hosts[Role.CLIENT].shell(f"cat {kept}; rm {source} {target}").stdout
    return float(json.loads(exported)["results"][0]["mean"])


def files(session: Session, case: Case, name: str) -> tuple[str, str]:
    """A fresh payload, and where it is to go, quoted for a shell."""
    source = f"{session.pair.sides[Role.CLIENT].directory}/ram/{name}"
    session.pair.hosts[Role.CLIENT].shell('head -c 67108864 /dev/urandom > "$1"', source, deadline_s=60)
    return shlex.quote(source), shlex.quote(f"{session.set_up(case).attached.path}/{name}")


if __name__ == "__main__":
    main()
