"""What the server's disk takes and gives when no network and no file protocol stand in the way.

It is measured on the server itself with the lab's own clock there, once in a block, in the folder of the case's files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lab.base.errors import LabFailure
from lab.design.blocks import Slot
from lab.hosts import Role
from lab.platforms import Timing
from lab.results.run_folder import Trial
from lab.run.pair import Pair
from lab.run.usage import usage
from lab.workloads.file import deadline_s, noise

PROTOCOL, TOOL, STORE = "store", "disk", "disk"
BLOCK_BYTES = 2**20
MOVED = {"write": "disk_written_bytes", "read": "disk_read_bytes"}


def ids(pair: Pair, slot: Slot) -> dict[str, str]:
    """The id of the trial of each direction that can be measured in the slot's block.

    Reading needs cold caches, and a server that is not tuned keeps its own.
    """
    directions = ("write", "read") if pair.config.tuned("server") else ("write",)
    return {direction: f"b{slot.block:03d}-{PROTOCOL}-{direction}" for direction in directions}


def measure(
    pair: Pair, folder: str, asked: Mapping[str, Any], ids: Mapping[str, str], record: Callable[[Trial], None]
) -> None:
    """Measure each direction in ``ids`` in ``folder`` on the server, and record it. What fails is a failed trial.

    ``asked`` has the fields that they have in common with a trial of the case.
    """
    base = dict(asked) | {"position": 0, "protocol": PROTOCOL, "tool": TOOL, "files": 1, "ceiling_bytes_per_s": None}
    try:
        timings = _time(pair, folder, int(base["size_bytes"]), ids)
    except LabFailure as error:
        timings, base = {}, base | {"status": "failed", "reason": str(error)}
    for direction, trial_id in ids.items():
        row = base | {"trial_id": trial_id, "case_id": f"{PROTOCOL}-{direction}", "direction": direction}
        record(Trial(**row | (_counted(timings[direction]) if timings else {})))


def _time(pair: Pair, folder: str, size_bytes: int, ids: Mapping[str, str]) -> dict[str, Timing]:
    """Write a file of the payload's size into a folder, flush it, and read it back with cold caches.

    Noise is made while the disk takes what was made before, so that making it costs next to nothing of the time of a
    disk that is slower than the processor. Raises LabFailure.
    """
    server, interface = pair.platforms[Role.SERVER], pair.interface(Role.SERVER)
    path, patience_s = f"{folder}/{ids['write']}.bin", deadline_s(size_bytes)
    timings: dict[str, Timing] = {}
    try:
        make = noise("make", path, size_bytes, f"file-share-lab-{pair.token}/{ids['write']}")
        timings["write"] = server.clock.timed(interface, path, make, patience_s)
        if "read" in ids:
            server.files.drop_caches()
            give = ("dd", f"if={path}", "of=/dev/null", f"bs={BLOCK_BYTES}")
            timings["read"] = server.clock.timed(interface, "", give, patience_s)
    finally:
        server.files.remove(path)
    return timings


def _counted(timing: Timing) -> dict[str, Any]:
    observed = {"server": usage(timing.readings, timing.elapsed_s)} if len(timing.readings) > 1 else {}
    return {"elapsed_s": timing.elapsed_s, "observed": observed, "status": "ok", "reason": ""}


def facts(ceiling: Trial | None) -> dict[str, Any]:
    """What a trial's ``observed`` takes over: the rate, and what the disks moved meanwhile, where that is counted."""
    if ceiling is None or ceiling.status != "ok" or not ceiling.elapsed_s:
        return {}
    moved = ceiling.observed.get("server", {}).get(MOVED[ceiling.direction])
    rate = round(ceiling.size_bytes / ceiling.elapsed_s)
    return {"store_ceiling_bytes_per_s": rate} | ({} if moved is None else {"store_ceiling_disk_bytes": moved})
