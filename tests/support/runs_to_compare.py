"""SYNTHETIC runs of one sweep to compare: on two kernels, on several pairs of hosts, and day by day as a history."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from lab.results.run_folder import RunFolder, Trial
from support.synthetic_runs import RUN, SIZE, START, append_all, trial, write_run

ROWS = (("afp", "cp"), ("smb", "cp"), ("ssh", "rsync"))
OLD, NEW = "6.1", "6.9"


def invent(seed: int, faster: Mapping[str, float], blocks: int = 6, link: float = 1.0) -> list[Trial]:
    """Each case once a block after the link's ceilings; ``faster`` gives factors by protocol, ``seed`` the noise."""
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
    """A run of a server with this kernel, begun some hours later; ``facts`` are more facts of the server."""
    hosts = {side: dict(own) for side, own in RUN["hosts"].items()}
    hosts["server"] |= {"kernel": kernel, **(facts or {})}
    begun = (START + timedelta(hours=hours)).isoformat()
    return write_run(directory, trials, hosts=hosts, started_at=begun, **run)


def without(trials: list[Trial], protocol: str) -> list[Trial]:
    return [replace(row, status="failed", elapsed_s=None) if row.protocol == protocol else row for row in trials]


def write_pair(
    directory: Path, seed: int, effect: float, facts: Mapping[str, Any] | None = None, *, host: str = "",
    blocks: int = 5, **run: Any,
) -> RunFolder:  # fmt: skip
    """A run of a pair: ``effect`` of MTU 9000 on log speed, ``facts`` of the server; ``host`` begins both names."""
    name = host or f"pair{seed}"
    chance = np.random.default_rng(1000 + seed)
    speed, jumbo = float(np.exp(chance.normal(0, 0.3))), float(np.exp(effect))
    trials = [
        trial
        if trial.protocol == "link"
        else replace(trial, elapsed_s=(trial.elapsed_s or 0) / speed / jumbo ** (trial.mtu == 9000))
        for trial in invent(seed, {}, blocks)
    ]
    hosts = {side: {**own, "hostname": f"{name}-{side}"} for side, own in RUN["hosts"].items()}
    hosts["server"] |= dict(facts or {})
    begun = (START + timedelta(hours=seed)).isoformat()
    about = {"instance": None, "title": f"the room of {name}", "hosts": hosts, "started_at": begun}
    return write_run(directory, trials, **(about | run))


def write_pairs(
    directory: Path, effects: Sequence[float], facts: Sequence[Mapping[str, Any]] = (), **run: Any
) -> list[RunFolder]:
    of_each = facts or [{}] * len(effects)
    return [
        write_pair(directory, seed, effect, about, **run)
        for seed, (effect, about) in enumerate(zip(effects, of_each, strict=True), 1)
    ]


BEGUN = datetime(2030, 3, 3, 3, 0, tzinfo=UTC)
NAME = "nas"
SAVED_ROWS = (("smb", "cp", "write", 110.0), ("smb", "cp", "read", 90.0))


def write_saved_run(
    results: Path, number: int, factor: float = 1.0, *, trials: int = 7, inside: float = 0.01,
    rows: Sequence[tuple[str, str, str, float]] = SAVED_ROWS, kernel: str = "6.1", **run: Any,
) -> RunFolder:  # fmt: skip
    """The run of day ``number``, with speeds ``factor`` times those of ``rows``."""
    chance, begun = random.Random(number), BEGUN + timedelta(days=number)
    hosts = {role: facts | {"kernel": kernel} for role, facts in RUN["hosts"].items()}
    about = {"saved_as": NAME, "started_at": begun.isoformat(), "hosts": hosts, "instance": None, "title": None}
    folder = RunFolder.create(results, NAME, RUN | about | run)
    folder.path.rename(path := results / f"{begun:%Y%m%dT%H%M%SZ}-{NAME}")
    folder, written = RunFolder(path), []
    for count in range(trials):
        for position, (protocol, tool, direction, speed) in enumerate(rows, 1):
            elapsed_s = SIZE / (speed * factor * chance.lognormvariate(0, inside) * 1e6)
            written.append(
                trial(
                    trial_id=f"b{count + 1}-{position:03}", case_id=f"{protocol}-{tool}-{direction}", block=count + 1,
                    position=position, started_at=begun.isoformat(), protocol=protocol, tool=tool, direction=direction,
                    elapsed_s=elapsed_s,
                )
            )  # fmt: skip
    append_all(folder, written)
    return folder


def write_history(
    results: Path, factors: Sequence[float], *, between: float = 0.015,
    run_of: Callable[[int], Mapping[str, Any]] = lambda _: {}, **of_each: Any,
) -> list[RunFolder]:  # fmt: skip
    """A run a day, with these factors of the usual speeds and scatter from run to run."""
    chance = random.Random(1)
    return [
        write_saved_run(results, number, factor * chance.lognormvariate(0, between), **of_each, **run_of(number))
        for number, factor in enumerate(factors)
    ]
