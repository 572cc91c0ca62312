"""SYNTHETIC runs: invented numbers in a plausible shape, written through a run folder."""

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lab.base import durable
from lab.results.run_folder import RunFolder, Trial

LABEL = "SYNTHETIC data of a test, not a measurement"
START = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
SIZE = 512 * 1024**2
# Invented: reached share of the ceiling, CPU seconds per GB on client and server
COMBINATIONS = {
    ("afp", "cp"): (0.95, 1.9, 1.3), ("afp", "rsync"): (0.84, 3.1, 1.4),
    ("nfs", "cp"): (0.97, 1.6, 1.1), ("nfs", "rsync"): (0.90, 2.8, 1.2),
    ("smb", "cp"): (0.94, 2.0, 1.5), ("smb", "rsync"): (0.88, 3.3, 1.6), ("ssh", "rsync"): (0.96, 4.0, 3.8),
}  # fmt: skip
RUN: dict[str, Any] = {
    "sweep_text": 'name = "synthetic"  # <b>not</b> & never measured\n', "seed": 7, "code_version": "synthetic",
    "started_at": START.isoformat(), "finished_at": (START + timedelta(hours=1)).isoformat(),
    "title": f"{LABEL}: 1 Gbit/s, delay 1 ms each way", "instance": "synthetic",
    "hosts": {
        side: {
            "hostname": f"synthetic-{side}", "platform": "linux", "os": "Invented OS 1.0", "kernel": "0.0-synthetic",
            "cpu": "Imaginary <CPU> & Sons", "cores": 2, "memory_bytes": 8 * 1024**3, "interface": "eth0",
        }
        for side in ("client", "server")
    },
}  # fmt: skip


def write_run(results_dir: Path, trials: Sequence[Trial] | None = None, **run: Any) -> RunFolder:
    """Write a finished run; without ``trials`` a sweep of 56 cases in 3 blocks. ``run`` changes run.json."""
    folder = RunFolder.create(results_dir, "synthetic", RUN | run)
    append_all(folder, make_trials() if trials is None else trials)
    return folder


def append_all(folder: RunFolder, trials: Sequence[Trial]) -> None:
    """Append trials as a run does, but wait for the disk once."""
    if lines := [json.dumps(trial.to_json(), allow_nan=False) + "\n" for trial in trials]:
        durable.append(folder.trials_path, "".join(lines).encode())


def trial(**changes: Any) -> Trial:
    base: dict[str, Any] = {
        "trial_id": "b1-001", "case_id": "afp-cp-write", "block": 1, "position": 1, "started_at": START.isoformat(),
        "protocol": "afp", "tool": "cp", "direction": "write", "workload": "file", "store": "ram",
        "mtu": 1500, "tcp_space": "default", "options": {}, "size_bytes": SIZE, "files": 1, "elapsed_s": 5.0,
        "client_cpu_s": 1.0, "server_cpu_s": 0.7, "wire_tx_bytes": round(SIZE * 1.05), "wire_rx_bytes": SIZE // 90,
        "retransmits": 0, "ceiling_bytes_per_s": 118e6, "effective": {"client_mtu": "1500", "mount": "gvfs"},
        "verified": True, "status": "ok", "reason": "",
    }  # fmt: skip
    return Trial.from_json({"observed": {}, **base, **changes})


def make_trials(
    blocks: int = 3,
    mtus: Sequence[int] = (1500, 9000),
    tcp_spaces: Sequence[int | str] = ("default", 65536),
    combinations: Sequence[tuple[str, str]] = tuple(COMBINATIONS),
) -> list[Trial]:
    """Every case once a block in random order by seed, after the link's ceilings; a few trials are void or failed."""
    rng = random.Random(7)
    made: list[Trial] = []
    for block in range(1, blocks + 1):
        cases = list(itertools.product(combinations, ("write", "read"), mtus, tcp_spaces))
        rng.shuffle(cases)
        links = itertools.product([("link", "iperf3")], ("write", "read"), mtus, tcp_spaces)
        for position, case in enumerate([*links, *cases], 1):
            made.append(_invent(rng, block, position, len(made), *case))
    return list(_spoil(made))


def _invent(
    rng: random.Random, block: int, position: int, done: int, what: tuple[str, str], direction: str, mtu: int, tcp: Any
) -> Trial:
    window_limit = float("inf") if tcp == "default" else tcp / 0.0021
    ceiling = min(119e6 if mtu == 1500 else 124e6, window_limit * 3) * (1 if direction == "write" else 0.99)
    share, client_cpu, server_cpu = COMBINATIONS.get(what, (1.0, 0.4, 0.5))
    speed = min(ceiling * share, window_limit * 3 * share) * rng.lognormvariate(-0.01 * block, 0.012)
    if tcp != "default" and what[0] != "link":
        speed *= 0.72
    per_packet = 1 if mtu == 1500 else 0.7
    return trial(
        trial_id=f"b{block}-{position:03}", case_id="-".join(map(str, (*what, direction, mtu, tcp))), block=block,
        position=position, started_at=(START + timedelta(seconds=10 * done)).isoformat(), protocol=what[0],
        tool=what[1], direction=direction, mtu=mtu, tcp_space=tcp, elapsed_s=SIZE / speed,
        client_cpu_s=SIZE / 1e9 * client_cpu * per_packet * rng.lognormvariate(0, 0.05),
        server_cpu_s=SIZE / 1e9 * server_cpu * per_packet * rng.lognormvariate(0, 0.05),
        ceiling_bytes_per_s=None if what[0] == "link" else ceiling,
    )  # fmt: skip


def _spoil(trials: list[Trial]) -> Iterator[Trial]:
    for number, good in enumerate(trials):
        if number % 45 == 30:
            lacking: dict[str, Any] = {"status": "void", "reason": "wire_rx_bytes < payload: served from a <cache>"}
            yield replace(good, **lacking, elapsed_s=(good.elapsed_s or 0) / 1.6)
        elif number % 80 == 60:
            nothing: dict[str, Any] = {"status": "failed", "reason": "mount: timed out | gave up", "verified": False}
            yield replace(good, **nothing, elapsed_s=None, client_cpu_s=None, server_cpu_s=None)
        else:
            yield good
