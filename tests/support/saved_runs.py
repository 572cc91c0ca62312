"""SYNTHETIC histories for tests: runs that `lab measure --save` could have left, with steps and drifts put in."""

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lab.results.run_folder import RunFolder
from support.synthetic_runs import RUN, SIZE, append_all, trial

BEGUN = datetime(2030, 3, 3, 3, 0, tzinfo=UTC)
NAME = "nas"
ROWS = (("smb", "cp", "write", 110.0), ("smb", "cp", "read", 90.0))


def write_saved_run(
    results: Path,
    number: int,
    factor: float = 1.0,
    *,
    trials: int = 7,
    inside: float = 0.01,
    rows: Sequence[tuple[str, str, str, float]] = ROWS,
    kernel: str = "6.1",
    **run: Any,
) -> RunFolder:
    """The run of day ``number``, all of whose speeds are ``factor`` times those of ``rows``."""
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
    results: Path,
    factors: Sequence[float],
    *,
    between: float = 0.015,
    seed: int = 1,
    run_of: Callable[[int], Mapping[str, Any]] = lambda _: {},
    **of_each: Any,
) -> list[RunFolder]:
    """A run a day, whose speeds are those factors of the usual ones, with a scatter from run to run."""
    chance = random.Random(seed)
    return [
        write_saved_run(results, number, factor * chance.lognormvariate(0, between), **of_each, **run_of(number))
        for number, factor in enumerate(factors)
    ]
