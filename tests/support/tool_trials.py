"""SYNTHETIC trials of tools that measure by themselves: trees, several clients, requests, frames, stores and shots of
the store alone. Invented numbers, in the shape of what the lab writes.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lab.results.bonnie import Bonnie, BonnieTest
from lab.results.observed import FrameFacts, Observed, Requests, RequestsOneWay
from lab.results.trial import Trial
from support.synthetic_runs import trial

MB = 10**6


def tool_trials(seed: int, blocks: int, *, counted: bool = True, lost: float = 0.0, pool: bool = True) -> list[Trial]:
    """Every tool once a block. Where nothing is ``counted``, no trial has anything that hosts counted; without
    a ``pool`` there is no store with options.
    """
    rng = np.random.default_rng(seed)
    made: list[Trial] = []
    for block in range(1, blocks + 1):
        for number, (changes, observed) in enumerate([*_moved(rng, pool), *_by_itself(rng, pool)]):
            status = str(rng.choice(["void", "failed"])) if rng.random() < lost else "ok"
            options = changes.get("options", {})
            case = "-".join(map(str, (*(changes[name] for name in ("protocol", "tool", "direction")),
                                      changes.get("store"), *options.values())))  # fmt: skip
            usual: dict[str, Any] = {
                "trial_id": f"b{block:03d}-{number:04d}", "case_id": case, "block": block, "position": number,
                "elapsed_s": float(rng.uniform(1, 2)), "size_bytes": 100 * MB, "store": "ram", "status": status,
            }  # fmt: skip
            made.append(trial(**usual | changes, observed=observed if counted else {}))
    return made


Invented = Iterator[tuple[dict[str, Any], dict[str, Any]]]


def _moved(rng: np.random.Generator, pool: bool) -> Invented:
    for protocol in ("smb", "ssh"):
        tree = {"protocol": protocol, "tool": "rsync", "direction": "write", "files": 500, "workload": "tree mail"}
        yield tree, {"tcp": {"data_segs_in": int(rng.integers(2000, 9000))}} if rng.random() < 0.8 else {}
    for direction in ("write", "read"):
        copy = {"protocol": "smb", "tool": "cp", "direction": direction, "workload": "file"}
        yield copy, {"flush_s": float(rng.uniform(0, 0.5))} if direction == "write" else {}
        several = Observed.from_json({"together": {
            "clients": [{"name": "client", "ended_s": 1.0}], "skew_s": 0.01, "all_active_s": float(rng.uniform(1, 2)),
            "all_active_bytes": int(rng.integers(10**8, 10**9)), "tail_s": 0.1, "slowest_bytes_per_s": 10**7,
            "median_bytes_per_s": 2 * 10**7, "fastest_bytes_per_s": 3 * 10**7, "jain": float(rng.uniform(0.5, 1)),
        }})  # fmt: skip
        yield {**copy, "options": {"clients": "3"}}, several.to_json()
        fio = Requests(read=_way(rng), write=_way(rng) if rng.random() < 0.5 else None)
        yield {**copy, "tool": "fio"}, Observed(requests=fio).to_json()
        for option in _of_pools(pool):
            room = {"store_capacity_bytes": 2 * 10**9, "store_read_bytes": int(rng.integers(0, 10**8))}
            made = {**copy, "store": "zfs", "options": option}
            yield made, room | {"store_written_bytes": int(rng.integers(10**8, 2 * 10**8))}
    facts = FrameFacts(streams=3, frames=100, late=int(rng.integers(9)), worst_late_s=0.1, most_streams=7)
    yield {"protocol": "smb", "tool": "frames", "direction": "read"}, Observed(frames=facts).to_json()


def _by_itself(rng: np.random.Generator, pool: bool) -> Invented:
    """The link, and the stores ram and zfs, all at one position; of shots that are a sweep's own trials three."""
    link = {"protocol": "link", "tool": "iperf3", "direction": "write", "workload": "stream", "position": 0}
    yield {**link, "ceiling_bytes_per_s": None}, {}
    for _ in range(3):
        yield {"protocol": "local", "tool": "dd", "direction": "write", "position": 99}, {}
    for option in ({}, *_of_pools(pool)):
        base = {"protocol": "store", "store": "zfs" if option else "ram", "options": option,
                "ceiling_bytes_per_s": None, "position": 0}  # fmt: skip
        for direction, count in (("write", "disk_written_bytes"), ("read", "disk_read_bytes")):
            of_dd = {**base, "tool": "dd", "direction": direction}
            yield of_dd, {"server": {count: int(rng.integers(10**7, 2 * 10**8))}}
            yield {**of_dd, "tool": "memory"}, {}
        yield {**base, "tool": "fio", "direction": "read"}, Observed(requests=Requests(read=_way(rng))).to_json()
        done = {"write_block": BonnieTest(bytes_per_s=int(rng.integers(10**6, 10**7)), cpu=0.4, longest_ms=3.0)}
        done["seeks"] = (
            BonnieTest(too_short=True) if rng.random() < 0.3 else BonnieTest(per_s=float(rng.uniform(9, 99)))
        )
        bonnie = Observed(bonnie=Bonnie(cached=bool(rng.random() < 0.5), **done))  # type: ignore[arg-type]
        yield {**base, "tool": "bonnie++", "direction": "write"}, bonnie.to_json()


def _of_pools(pool: bool) -> list[dict[str, str]]:
    return [{"zfs.ashift": "9"}, {"zfs.ashift": "12"}] if pool else []


def _way(rng: np.random.Generator) -> RequestsOneWay:
    iops = float(rng.uniform(100, 1000))
    return RequestsOneWay(
        requests=1000, bytes=4_096_000, runtime_s=1000 / iops, iops=iops, bytes_per_s=round(4096 * iops), p50_ms=0.4,
        p95_ms=0.9, p99_ms=1.5, p999_ms=7.25, longest_ms=float(rng.uniform(8, 20)),
    )  # fmt: skip
