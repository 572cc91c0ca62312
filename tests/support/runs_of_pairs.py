"""SYNTHETIC runs of one sweep on several pairs of hosts, whose MTU of 9000 has an effect of its own. Invented."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from lab.results.run_folder import RunFolder
from support.runs_to_compare import invent
from support.synthetic_runs import RUN, START, write_run


def write_pair(
    directory: Path,
    seed: int,
    effect: float,
    facts: Mapping[str, Any] | None = None,
    *,
    host: str = "",
    blocks: int = 5,
    **run: Any,
) -> RunFolder:
    """A run of a pair: ``effect`` of MTU 9000 on log speed, ``facts`` of the server; ``host`` begins both names."""
    name = host or f"pair{seed}"
    chance = np.random.default_rng(1000 + seed)
    speed, jumbo = float(np.exp(chance.normal(0, 0.3))), float(np.exp(effect))
    trials = [
        one
        if one.protocol == "link"
        else replace(one, elapsed_s=(one.elapsed_s or 0) / speed / jumbo ** (one.mtu == 9000))
        for one in invent(seed, {}, blocks)
    ]
    hosts = {side: {**own, "hostname": f"{name}-{side}"} for side, own in RUN["hosts"].items()}
    hosts["server"] |= dict(facts or {})
    begun = (START + timedelta(hours=seed)).isoformat()
    about = {"instance": None, "title": f"the room of {name}", "hosts": hosts, "started_at": begun}
    return write_run(directory, trials, **(about | run))


def write_pairs(
    directory: Path, effects: Sequence[float], facts: Sequence[Mapping[str, Any]] = (), **run: Any
) -> list[RunFolder]:
    """A run of each of several pairs."""
    of_each = facts or [{}] * len(effects)
    return [
        write_pair(directory, seed, effect, about, **run)
        for seed, (effect, about) in enumerate(zip(effects, of_each, strict=True), 1)
    ]
