"""Trials with everything far from its limit, to be changed, and what the rules say of them."""

from typing import Any

import pandas as pd

from lab.results import dataframe
from lab.results.trial import SCHEMA, Trial
from lab.stats.bottleneck import verdicts
from support.synthetic_runs import RUN, trial

MB = 10**6
SIZE = 100 * MB
IDLE_SIDE = {
    "cpu_cores": 0.3, "cores": 4, "user": 0.05, "system": 0.05, "softirq": 0.02, "iowait": 0.0, "steal": 0.0,
    "core_mean": 0.3, "core_peak": 0.6, "process": "smbd", "process_mean": 0.25, "throttled_s": 0.0, "waited_s": 0.05,
}  # fmt: skip
# one request of 100 kB in every round trip of 10 ms: 10 MB/s, of a link that carries 100
TCP = {
    "age_s": 0.0, "mss": 1448, "pmtu": 1500, "rtt_ms": 11.0, "min_rtt_ms": 10.0, "cwnd": 500, "window_bytes": 2 * MB,
    "sent_bytes": SIZE, "acked_bytes": SIZE, "retransmits": 0, "busy_ms": 9800, "rwnd_limited_ms": 0,
    "sndbuf_limited_ms": 0,
}  # fmt: skip


def a_trial(
    client: dict[str, Any] | None = None,
    server: dict[str, Any] | None = None,
    tcp: dict[str, Any] | None = None,
    more: dict[str, Any] | None = None,
    **changes: Any,
) -> Trial:
    """A write of 100 MB in 10 s over a link of 100 MB/s, with everything far from its limit, and changes."""
    observed = {
        "client": IDLE_SIDE | {"process": "cp"} | (client or {}), "server": IDLE_SIDE | (server or {}),
        "tcp": TCP | (tcp or {}), "remarks": [], **(more or {}),
    }  # fmt: skip
    base = {"size_bytes": SIZE, "elapsed_s": 10.0, "ceiling_bytes_per_s": 100e6, "observed": observed}
    return trial(**base | changes)


def links(*rates: float) -> list[Trial]:
    """What iperf3 reached on the link in each block, bytes per second."""
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
