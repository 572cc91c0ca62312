"""SYNTHETIC trials with observations of both hosts, or of the client alone as in `lab measure`; their verdicts."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lab.report import registry, terminal
from lab.report.analysis import Analysis
from lab.results import dataframe, run_folder
from lab.results.run_folder import RunFolder
from lab.results.trial import SCHEMA, Trial
from lab.stats.bottleneck import verdicts
from support.synthetic_runs import RUN, trial, write_run

MB = 10**6
SIZE = 100 * MB
IDLE_SIDE = {
    "cpu_cores": 0.3, "cores": 4, "user": 0.05, "system": 0.05, "softirq": 0.02, "iowait": 0.0, "steal": 0.0,
    "core_mean": 0.3, "core_peak": 0.6, "process": "smbd", "process_mean": 0.25, "throttled_s": 0.0, "waited_s": 0.05,
}  # fmt: skip
# one request of 100 kB in each round trip of 10 ms: 10 MB/s on a link of 100 MB/s
TCP = {
    "age_s": 0.0, "mss": 1448, "pmtu": 1500, "rtt_ms": 11.0, "min_rtt_ms": 10.0, "cwnd": 500, "window_bytes": 2 * MB,
    "sent_bytes": SIZE, "acked_bytes": SIZE, "retransmits": 0, "busy_ms": 9800, "rwnd_limited_ms": 0,
    "sndbuf_limited_ms": 0,
}  # fmt: skip


def a_trial(
    client: dict[str, Any] | None = None, server: dict[str, Any] | None = None, tcp: dict[str, Any] | None = None,
    more: dict[str, Any] | None = None, **changes: Any,
) -> Trial:  # fmt: skip
    """A write of 100 MB in 10 s over a link of 100 MB/s, far from every limit, with changes."""
    observed = {
        "client": IDLE_SIDE | {"process": "cp"} | (client or {}), "server": IDLE_SIDE | (server or {}),
        "tcp": TCP | (tcp or {}), "remarks": [], **(more or {}),
    }  # fmt: skip
    base = {"size_bytes": SIZE, "elapsed_s": 10.0, "ceiling_bytes_per_s": 100e6, "observed": observed}
    return trial(**base | changes)


def links(*rates: float) -> list[Trial]:
    """The link trial of each block, from what iperf3 reached in bytes per second."""
    return [
        trial(protocol="link", trial_id=f"link{n}", case_id="link", block=n, size_bytes=SIZE, elapsed_s=SIZE / rate)
        for n, rate in enumerate(rates, 1)
    ]


def judged(*trials: Trial, instance: str | None = None, **run: Any) -> pd.DataFrame:
    return verdicts(dataframe.frame(trials, {"schema": SCHEMA, **RUN, "instance": instance, **run}))


def verdict(given: Trial, instance: str | None = None) -> tuple[str, str]:
    row = judged(given, instance=instance).iloc[0]
    return row["limited_by"], row["evidence"]


FULL_LINK: dict[str, Any] = {"elapsed_s": SIZE / 94e6}
ON_DISK = {"store": "disk", "more": {"store_ceiling_bytes_per_s": 10_400_000, "store_ceiling_disk_bytes": SIZE}}
WRITTEN = {"disk_written_bytes": SIZE, "disk_read_bytes": 0}
BARE: dict[str, Any] = {"client": {"tx_bytes": 1}, "server": IDLE_SIDE, "remarks": []}


GIGABIT = 125 * MB * 1448 / 1538  # payload of 1 Gbit/s: docs/explanation/bottlenecks.md
TARGET = {"protocol": "smb", "server": "nas", "share": "media", "path": "/Volumes/media", "mounted_by": "somebody"}
LINK = {"bits_per_s": 10**9, "duplex": "full", "medium": "wired", "interface": "eth0", "mtu": 1500, "tunnel": False}
EFFECTIVE: dict[str, Any] = {
    "mount": "kernel", "dialect": "SMB 3.1.1", "signing": "off", "encryption": "off", "rsize": 4 << 20,
    "wsize": 4 << 20, "mount_options": "rw,relatime,vers=3.1.1,cache=strict", "client_mtu": "1500",
}  # fmt: skip
# 60 MB/s on a Gigabit link, little load, and a short round trip
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
    """A trial of `lab measure`; by default a write at 60 MB/s, far from every limit."""
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
    """A read of `lab measure`, whose sender nobody saw."""
    facts = {"rtt_ms": 0.4, "min_rtt_ms": 0.2, "mss": 1448, "pmtu": 1500, "received_bytes": SIZE, "data_segs_in": 100}
    made = seen(MB_per_s, direction="read", **changes)
    observed = made.observed.to_json() | {"tcp": facts | dict(changes.get("tcp") or {})}
    return Trial.from_json(made.to_json() | {"observed": observed})


def blocks(trials: Sequence[Trial], count: int = 5) -> list[Trial]:
    """Each trial once a block, with scatter; one tool and direction are a case."""
    rng, made = random.Random(7), []
    for block in range(1, count + 1):
        for position, one in enumerate(trials, 1):
            slower = rng.lognormvariate(0, 0.02) if count > 1 else 1.0
            place = {"block": block, "position": position, "trial_id": f"b{block:03}-{position:04}"}
            case = {"case_id": f"{one.tool}-{one.direction}", "elapsed_s": (one.elapsed_s or 1) * slower}
            made.append(Trial.from_json(one.to_json() | place | case))
    return made


def a_run(trials: Sequence[Trial], **run: Any) -> pd.DataFrame:
    """The frame of a run of `lab measure`; ``run`` changes run.json."""
    return dataframe.frame(trials, RUN | MEASURED | run)


def write_measured(results: Path, trials: Sequence[Trial], **run: Any) -> RunFolder:
    return write_run(results, trials, **MEASURED | run)


def client_verdict(one: Trial, **run: Any) -> tuple[str, str, str]:
    row = verdicts(a_run([one], **run)).iloc[0]
    return row["limited_by"], row["grade"], row["evidence"]


WIFI = LINK | {"medium": "wireless", "duplex": None, "bits_per_s": 433 * 10**6}
BOTH = [seen(92.0), read(108.0), seen(70.0, tool="rsync"), read(82.0, tool="rsync")]
MEASURES: dict[str, tuple[list[Trial], dict[str, Any]]] = {
    "both tools": (blocks(BOTH, 5), {}),
    "one block": (blocks(BOTH, 1), {}),
    "many blocks": (blocks(BOTH, 8), {}),
    "only writes": (blocks([seen(92.0)], 3), {}),
    "only reads": (blocks([read(92.0)], 3), {}),
    "100 Mbit/s": (blocks([seen(11.2), read(11.3)], 6), {"link": LINK | {"bits_per_s": 10**8}}),
    "Wi-Fi": (blocks([seen(31.0, client={"wifi_bits_per_s": 433 * 10**6}), read(33.0)], 3), {"link": WIFI}),
    "VPN": (blocks([seen(3.0), read(4.0)], 3), {"link": LINK | {"tunnel": True, "bits_per_s": 10**7}}),
    "nothing of the link": (blocks([seen(60.0), read(60.0)], 3), {"link": {}}),
    "nothing observed": (blocks([seen(60.0, observed={}), seen(60.0, direction="read", observed={})], 3), {}),
    "all failed": ([seen(status="failed", elapsed_s=None, client_cpu_s=None, reason="the disk is full")], {}),
    "half failed": ([*blocks([seen(60.0)], 2), seen(trial_id="x", status="void", reason="cached")], {}),
    "empty": ([], {}),
    "with a login": (blocks(BOTH, 3), {"hosts": {"client": {"hostname": "a"}, "server": {"hostname": "b"}}}),
}
# unit tests show these; they lack what others have
LACKING = ("one block", "nothing observed", "all failed", "with a login")


def assert_shown_in_full(name: str, results: Path) -> None:
    """All tables and the JSON of one of MEASURES are shown."""
    trials, run = MEASURES[name]
    folder = write_measured(results, trials, **run)
    shown = terminal.show_json(folder)
    assert json.loads(json.dumps(shown, allow_nan=False))["run"]["target"] == TARGET
    analysis = Analysis(run_folder.load(folder.path))
    assert terminal.terminal_tables(analysis)
    for table in registry.OF_RUN:
        if table not in registry.FULL:
            terminal.terminal_tables(analysis, [table])
