"""What the server's disk takes and gives when no network and no file protocol stand in the way.

It is measured like the link's ceiling, once a block, on the server itself and with the lab's own clock there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.base.errors import LabFailure
from lab.design.case import Case
from lab.platforms import Timing
from lab.results.run_folder import Trial
from lab.run.session import Session
from lab.run.usage import usage
from lab.workloads.file import deadline_s, noise

PROTOCOL, TOOL, STORE = "store", "disk", "disk"
BLOCK_BYTES = 2**20
MOVED = {"write": "disk_written_bytes", "read": "disk_read_bytes"}


def ways(session: Session) -> tuple[str, ...]:
    """The directions that can be measured: reading needs cold caches, and a server that is not tuned keeps its own."""
    return ("write", "read") if session.config.tuned("server") else ("write",)


def trials(session: Session, case: Case, asked: Mapping[str, Any], ids: Mapping[str, str]) -> list[Trial]:
    """The rows for trials.jsonl, one for each direction in ``ids``; the case's share must stand.

    ``asked`` has the fields that they have in common with a trial of the case.
    """
    rows: list[Trial] = []
    base = dict(asked) | {"position": 0, "protocol": PROTOCOL, "tool": TOOL, "files": 1, "ceiling_bytes_per_s": None}
    try:
        found = measure(session, case, ids)
    except LabFailure as error:
        found, base = dict.fromkeys(ids), base | {"status": "failed", "reason": str(error)}
    for way, timing in found.items():
        row = base | {"trial_id": ids[way], "case_id": f"{PROTOCOL}-{way}", "direction": way}
        rows.append(Trial(**row | (_counted(timing) if timing else {})))
    return rows


def measure(session: Session, case: Case, ids: Mapping[str, str]) -> dict[str, Timing | None]:
    """Write a file of the payload's size into the case's store, flush it, and read it back with cold caches.

    Noise is made while the disk takes what was made before, so that making it costs next to nothing of the time of a
    disk that is slower than the processor. Raises LabFailure.
    """
    server, interface = session.platforms["server"], session.interface("server")
    path, patience_s = f"{session.store(case)}/{ids['write']}.bin", deadline_s(case.size_bytes)
    found: dict[str, Timing | None] = {}
    try:
        make = noise("make", path, case.size_bytes, f"file-share-lab-{session.token}/{ids['write']}")
        found["write"] = server.clock.timed(interface, path, make, patience_s)
        if "read" in ids:
            server.files.drop_caches()
            give = ("dd", f"if={path}", "of=/dev/null", f"bs={BLOCK_BYTES}")
            found["read"] = server.clock.timed(interface, "", give, patience_s)
    finally:
        server.files.remove(path)
    return found


def _counted(timing: Timing) -> dict[str, Any]:
    observed = {"server": usage(timing.readings, timing.elapsed_s)} if len(timing.readings) > 1 else {}
    return {"elapsed_s": timing.elapsed_s, "observed": observed, "status": "ok", "reason": ""}


def known(ceiling: Trial) -> dict[str, Any]:
    """What a trial's ``observed`` takes over: the rate, and what the disks moved meanwhile, where that is counted."""
    if ceiling.status != "ok" or not ceiling.elapsed_s:
        return {}
    moved = ceiling.observed.get("server", {}).get(MOVED[ceiling.direction])
    rate = round(ceiling.size_bytes / ceiling.elapsed_s)
    return {"store_ceiling_bytes_per_s": rate} | ({} if moved is None else {"store_ceiling_disk_bytes": moved})
