"""What the server's disk takes and gives when no network and no file protocol stand in the way.

It is measured on the server itself with the lab's own clock there, once in a block, in the folder of the case's files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lab.base.errors import LabFailure
from lab.design.blocks import Slot
from lab.hosts import Role
from lab.platforms import Timing
from lab.results.observed import HostUsage, Observed
from lab.results.trial import Trial
from lab.run.pair import Pair
from lab.run.usage import usage
from lab.workloads.file import deadline_s, noise, payload_name

PROTOCOL, TOOL, STORE = "store", "disk", "disk"
BLOCK_BYTES = 2**20


def ids(pair: Pair, slot: Slot) -> dict[str, str]:
    """The id of the trial of each direction that can be measured in the slot's block.

    Reading needs cold caches, and a server that is not tuned keeps its own.
    """
    directions = ("write", "read") if pair.config.may_tune("server") else ("write",)
    return {direction: f"b{slot.block:03d}-{PROTOCOL}-{direction}" for direction in directions}


def measure(pair: Pair, folder: str, planned: Trial, ids: Mapping[str, str], record: Callable[[Trial], None]) -> None:
    """Measure each direction in ``ids`` in ``folder`` on the server, and record it. What fails is a failed trial.

    ``planned`` is a trial of the case, of which they take what they have in common with it.
    """
    base = replace(planned, position=0, protocol=PROTOCOL, tool=TOOL, files=1)
    timings: dict[str, Timing] = {}
    reason = ""
    try:
        timings = _time(pair, folder, base.size_bytes, ids)
    except LabFailure as error:
        reason = error.cause_first()
    for direction, trial_id in ids.items():
        row = replace(base, trial_id=trial_id, case_id=f"{PROTOCOL}-{direction}", direction=direction)
        record(
            _add_timing(row, timings[direction], pair.facts[Role.SERVER].cores)
            if timings
            else replace(row, status="failed", reason=reason)
        )


def _time(pair: Pair, folder: str, size_bytes: int, ids: Mapping[str, str]) -> dict[str, Timing]:
    """Write a file of the payload's size into a folder, flush it, and read it back with cold caches.

    Noise is made while the disk takes what was made before, so that making it costs next to nothing of the time of a
    disk that is slower than the processor. Raises LabFailure.
    """
    server, interface = pair.platforms[Role.SERVER], pair.interface(Role.SERVER)
    name, patience_s = payload_name(ids["write"]), deadline_s(size_bytes)
    path = f"{folder}/{name}"
    timings: dict[str, Timing] = {}
    try:
        make = noise("make", path, size_bytes, name)
        timings["write"] = server.clock.time_transfer(interface, path, make, patience_s)
        if "read" in ids:
            server.files.drop_caches()
            give = ("dd", f"if={path}", "of=/dev/null", f"bs={BLOCK_BYTES}")
            timings["read"] = server.clock.time_transfer(interface, "", give, patience_s)
    finally:
        server.files.remove(path)
    return timings


def _add_timing(row: Trial, timing: Timing, cores: int) -> Trial:
    server = usage(timing.readings, timing.elapsed_s, cores) if len(timing.readings) > 1 else None
    return replace(row, elapsed_s=timing.elapsed_s, observed=Observed(server=server), status="ok")


def add_ceiling(observed: Observed, ceiling: Trial | None) -> Observed:
    """What was observed, with the rate of the store by itself, and what its disks moved meanwhile where counted."""
    if ceiling is None or ceiling.status != "ok" or not ceiling.elapsed_s:
        return observed
    server = ceiling.observed.server or HostUsage()
    moved = server.disk_written_bytes if ceiling.direction == "write" else server.disk_read_bytes
    rate = round(ceiling.size_bytes / ceiling.elapsed_s)
    return replace(observed, store_ceiling_bytes_per_s=rate, store_ceiling_disk_bytes=moved)
