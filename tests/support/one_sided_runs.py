"""SYNTHETIC runs of `lab measure` for tests: what the client alone saw. Invented numbers, not measurements."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lab.results import dataframe
from lab.results.run_folder import RunFolder, Trial
from lab.stats.bottleneck import verdicts
from support.bottleneck_trials import IDLE_SIDE, MB, TCP
from support.synthetic_runs import RUN, trial, write_run

SIZE = 100 * MB
GIGABIT = 125 * MB * 1448 / 1538  # payload of 1 Gbit/s: docs/explanation/bottlenecks.md
TARGET = {
    "protocol": "smb", "server": "nas", "share": "media", "path": "/Volumes/media", "mounted_by": "somebody",
}  # fmt: skip
LINK = {
    "bits_per_s": 10**9, "duplex": "full", "medium": "wired", "interface": "eth0", "mtu": 1500, "tunnel": False,
}  # fmt: skip
EFFECTIVE: dict[str, Any] = {
    "mount": "kernel", "dialect": "SMB 3.1.1", "signing": "off", "encryption": "off", "rsize": 4 << 20,
    "wsize": 4 << 20, "mount_options": "rw,relatime,vers=3.1.1,cache=strict", "client_mtu": "1500",
}  # fmt: skip
# 60 MB/s of a Gigabit link, hardly anything to do here, and a short round trip
TCP_HERE = TCP | {"rtt_ms": 0.4, "min_rtt_ms": 0.2, "data_segs_in": 100, "busy_ms": 1200}
MEASURED: dict[str, Any] = {
    "name": "measure-media", "title": "/Volumes/media", "instance": None, "ended": "complete", "ceiling_shots": 2,
    "hosts": {"client": RUN["hosts"]["client"]}, "target": TARGET, "link": LINK,
}  # fmt: skip


def seen(
    MB_per_s: float = 60.0,  # noqa: N803 – the name of the column
    client: Mapping[str, Any] | None = None,
    tcp: Mapping[str, Any] | None = None,
    wire: Mapping[str, Any] | None = None,
    effective: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Trial:
    """A trial that the client alone saw; by default a write at 60 MB/s, with all that it sees far from its limit."""
    observed: dict[str, Any] = {
        "client": {**IDLE_SIDE, "process": "cp", **(client or {})}, "tcp": {**TCP_HERE, **(tcp or {})},
        "wire": {"overhead": 0.05, "before_first_byte_s": 0.02, "after_last_byte_s": 0.03, **(wire or {})},
        "remarks": [],
    }  # fmt: skip
    base = {
        "protocol": "smb", "tool": "cp", "direction": "write", "store": "disk", "size_bytes": SIZE,
        "elapsed_s": SIZE / MB_per_s / MB, "server_cpu_s": None, "ceiling_bytes_per_s": None, "observed": observed,
        "effective": {**EFFECTIVE, **(effective or {})},
    }  # fmt: skip
    return trial(**base | changes)


def read(MB_per_s: float = 60.0, **changes: Any) -> Trial:  # noqa: N803
    """The same of a read, whose sender nobody saw."""
    facts = {"rtt_ms": 0.4, "min_rtt_ms": 0.2, "mss": 1448, "pmtu": 1500, "received_bytes": SIZE, "data_segs_in": 100}
    made = seen(MB_per_s, direction="read", **changes)
    observed = made.observed.to_json() | {"tcp": facts | dict(changes.get("tcp") or {})}
    return Trial.from_json(made.to_json() | {"observed": observed})


def blocks(trials: Sequence[Trial], count: int = 5, spread: float = 0.02) -> list[Trial]:
    """Each of these trials once a block, with a scatter; those of one tool and direction are a case."""
    rng, made = random.Random(7), []
    for block in range(1, count + 1):
        for position, one in enumerate(trials, 1):
            slower = rng.lognormvariate(0, spread) if count > 1 else 1.0
            place = {"block": block, "position": position, "trial_id": f"b{block:03}-{position:04}"}
            case = {"case_id": f"{one.tool}-{one.direction}", "elapsed_s": (one.elapsed_s or 1) * slower}
            made.append(Trial.from_json(one.to_json() | place | case))
    return made


def a_run(trials: Sequence[Trial], **run: Any) -> pd.DataFrame:
    """The frame of such a run; ``run`` changes run.json."""
    return dataframe.frame(trials, RUN | MEASURED | run)


def write_measured(results: Path, trials: Sequence[Trial], **run: Any) -> RunFolder:
    """The same as a run folder."""
    return write_run(results, trials, **MEASURED | run)


def verdict(one: Trial, **run: Any) -> tuple[str, str, str]:
    """What is said of one case: limit, grade and evidence."""
    row = verdicts(a_run([one], **run)).iloc[0]
    return row["limited_by"], row["grade"], row["evidence"]
