"""SYNTHETIC runs to compare: an old kernel and a new one, which is slower or faster by a known factor. Invented."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from lab.results.run_folder import RunFolder, Trial
from support.synthetic_runs import RUN, SIZE, START, trial, write_run

ROWS = (("afp", "cp"), ("smb", "cp"), ("ssh", "rsync"))
OLD, NEW = "6.1", "6.9"


def invent(seed: int, faster: Mapping[str, float], blocks: int = 6, link: float = 1.0) -> list[Trial]:
    """Each case once a block, ``faster`` by protocol, after the link's ceilings; the noise is that of the seed."""
    rng, made = np.random.default_rng(seed), []
    for block in range(1, blocks + 1):
        drift = rng.normal(0, 0.01)
        for direction in ("write", "read"):
            speed = 118e6 * link * np.exp(rng.normal(0, 0.005))
            made.append(
                trial(trial_id=f"l{block}{direction}", case_id=f"link-{direction}", block=block, position=0,
                      protocol="link", tool="iperf3", direction=direction, elapsed_s=float(SIZE / speed),
                      ceiling_bytes_per_s=None)
            )  # fmt: skip
        for number, (protocol, tool) in enumerate(ROWS):
            for direction in ("write", "read"):
                for mtu in (1500, 9000):
                    speed = 80e6 * faster.get(protocol, 1.0) * np.exp(drift + rng.normal(0, 0.02))
                    name = f"{protocol}-{tool}-{direction}-{mtu}"
                    made.append(
                        trial(trial_id=f"b{block}-{name}", case_id=name, block=block, position=number + 1,
                              protocol=protocol, tool=tool, direction=direction, mtu=mtu, elapsed_s=float(SIZE / speed))
                    )  # fmt: skip
    return made


def write_kernel(
    directory: Path, kernel: str, trials: list[Trial], hours: int, facts: Mapping[str, Any] | None = None, **run: Any
) -> RunFolder:
    """A run of a server with this kernel, begun so many hours later; ``facts`` are more of the server."""
    hosts = {side: dict(own) for side, own in RUN["hosts"].items()}
    hosts["server"] |= {"kernel": kernel, **(facts or {})}
    begun = (START + timedelta(hours=hours)).isoformat()
    return write_run(directory, trials, hosts=hosts, started_at=begun, **run)


def without(trials: list[Trial], protocol: str) -> list[Trial]:
    """The same, all of a protocol's having failed."""
    return [replace(one, status="failed", elapsed_s=None) if one.protocol == protocol else one for one in trials]
