"""How long it takes to load and analyse a run of many trials: ``python benchmarks/loading.py --help``. Asserts nothing.

The trials are SYNTHETIC: invented numbers in the shape that a run writes, about 1.4 kB a line.
"""

import argparse
import itertools
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
from analysis import analyse

from lab.design.factors import OPTIONS
from lab.report.analysis import Analysis
from lab.results.run_folder import RunFolder, load

START = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
SIZE_BYTES = 512 * 1024**2
TCP_SPACES = ("default", 65536, 524288, 4194304)
CASES = tuple(
    itertools.product(("afp", "nfs", "smb"), ("cp", "rsync"), ("write", "read"), (1500, 9000), TCP_SPACES, ("ram",))
)
HOST_COUNTS = (
    "user_s", "system_s", "irq_s", "steal_s", "temperature_c", "clock_hz", "context_switches", "tx_packets",
    "rx_packets",
)  # fmt: skip
TCP_COUNTS = ("rtt_us", "rtt_var_us", "cwnd_bytes", "retransmitted_bytes", "sent_bytes")


def trials(count: int) -> Iterator[dict[str, Any]]:
    """The fields of ``count`` trials: every case once a block."""
    rng = random.Random(7)
    for number in range(count):
        block, position = divmod(number, len(CASES))
        yield _trial(rng, number, block + 1, position + 1, CASES[position])


def _trial(rng: random.Random, number: int, block: int, position: int, case: tuple[Any, ...]) -> dict[str, Any]:
    protocol, tool, direction, mtu, tcp_space, store = case
    started_at = (START + timedelta(seconds=6.123 * number)).isoformat(timespec="milliseconds")
    failed = number % 97 == 0
    return {
        "trial_id": f"b{block:03d}-{position:04d}", "case_id": "-".join(map(str, case)), "block": block,
        "position": position, "started_at": started_at, "protocol": protocol, "tool": tool, "direction": direction,
        "workload": "file", "store": store, "mtu": mtu, "tcp_space": tcp_space, "options": dict(OPTIONS),
        "size_bytes": SIZE_BYTES, "files": 1,
        "elapsed_s": None if failed else round(5 * rng.lognormvariate(0, 0.02), 9),
        "client_cpu_s": round(rng.uniform(1, 2), 6), "server_cpu_s": round(rng.uniform(1, 2), 6),
        "wire_tx_bytes": SIZE_BYTES + rng.randrange(10**7), "wire_rx_bytes": rng.randrange(10**7),
        "retransmits": rng.randrange(100), "ceiling_bytes_per_s": 118e6 * rng.lognormvariate(0, 0.001),
        "effective": _effective(protocol, mtu, tcp_space), "verified": not failed,
        "status": "failed" if failed else "ok", "reason": "mount: timed out" if failed else "", "anchor": False,
        "observed": _observed(rng),
    }  # fmt: skip


def _effective(protocol: str, mtu: int, tcp_space: int | str) -> dict[str, str]:
    buffers = "4096 131072 6291456" if tcp_space == "default" else f"{tcp_space} {tcp_space} {tcp_space}"
    sides = {
        f"{side}_{key}": value
        for side in ("client", "server")
        for key, value in {"mtu": str(mtu), "tcp_rmem": buffers, "tcp_wmem": buffers, "governor": "performance"}.items()
    }
    return sides | {"mount": "kernel", "dialect": f"{protocol} 3.1.1", "clock": "monotonic", "flushed": "fsync"}


def _observed(rng: random.Random) -> dict[str, dict[str, float]]:
    hosts = {
        side: {name: round(rng.uniform(0, 9), 2) if name.endswith(("_s", "_c")) else rng.randrange(10**7)
               for name in HOST_COUNTS}
        for side in ("client", "server")
    }  # fmt: skip
    return hosts | {"tcp": {name: rng.randrange(10**6) for name in TCP_COUNTS}}


def write(directory: Path, count: int) -> Path:
    """A run folder with ``count`` trials, each on a line as a run folder appends it."""
    folder = RunFolder.create(directory, "loading", {"title": "SYNTHETIC, not a measurement"})
    with folder.trials_path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(trial)}\n" for trial in trials(count))
    return folder.path


def time_load(path: Path) -> pd.DataFrame:
    """Load a run once and print seconds, lines a second, CPU seconds, and the peak of resident memory; its frame.

    Where others keep the machine busy, compare CPU seconds.
    """
    started, cpu_started_s = time.perf_counter(), _used()[0]
    frame = load(path)
    elapsed_s = time.perf_counter() - started
    cpu_s, peak_bytes = _used()
    speed = f"{elapsed_s:.2f} s, {len(frame) / elapsed_s:,.0f} lines/s"
    print(f"{speed}, {cpu_s - cpu_started_s:.2f} s of CPU, at most {peak_bytes / 1e6:,.0f} MB", flush=True)
    return frame


def time_everything(path: Path) -> None:
    """Load a run once, compute every statistic of it and make every figure; print what each part takes, and all."""
    started, cpu_started_s = time.perf_counter(), _used()[0]
    analyse(Analysis(time_load(path)))
    print(f"total: {time.perf_counter() - started:.2f} s, {_used()[0] - cpu_started_s:.2f} s of CPU", flush=True)


def _used() -> tuple[float, int]:
    """CPU seconds and peak bytes of memory of this process and of the largest that it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return sum(one.ru_utime + one.ru_stime for one in used), sum(one.ru_maxrss for one in used) * unit_bytes


def main() -> None:
    """Write a run into a temporary folder and load it some times, each time in a process of its own."""
    parser = argparse.ArgumentParser(description="Time results.load on a synthetic run, and what is made of it.")
    parser.add_argument("--analyse", action="store_true", help="compute every statistic and make every figure too")
    parser.add_argument("--trials", type=int, default=10**6)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--load", type=Path, help="time one load of this run folder instead")
    asked = parser.parse_args()
    if asked.load:
        (time_everything if asked.analyse else time_load)(asked.load)
        return
    with tempfile.TemporaryDirectory() as directory:
        path = write(Path(directory), asked.trials)
        size_bytes = (path / "trials.jsonl").stat().st_size
        print(
            f"{asked.trials:,} lines, {size_bytes / 1e6:,.0f} MB, {size_bytes / asked.trials:,.0f} bytes a line",
            flush=True,
        )
        for _ in range(asked.times):
            more = ["--analyse"] if asked.analyse else []
            subprocess.run([sys.executable, __file__, "--load", path, *more], check=True)


if __name__ == "__main__":
    main()
