"""What the server's disk takes and gives when no network and no file protocol stand in the way.

It is measured like the link's ceiling, once a block, on the server itself and with the lab's own clock there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lab.base.errors import LabFailure
from lab.design.case import Case
from lab.platforms import Timing
from lab.results.observed import HostUsage, Observed
from lab.results.trial import Trial
from lab.run.session import Session
from lab.run.usage import usage
from lab.workloads.file import deadline_s, noise

PROTOCOL, TOOL, STORE = "store", "disk", "disk"
BLOCK_BYTES = 2**20


def directions(session: Session) -> tuple[str, ...]:
    """The directions that can be measured: reading needs cold caches, and a server that is not tuned keeps its own."""
    return ("write", "read") if session.config.tuned("server") else ("write",)


def trials(session: Session, case: Case, planned: Trial, ids: Mapping[str, str]) -> list[Trial]:
    """The rows for trials.jsonl, one for each direction in ``ids``; the case's share must stand.

    ``planned`` is a trial of the case, of which they take what they have in common with it.
    """
    base = replace(planned, position=0, protocol=PROTOCOL, tool=TOOL, files=1)
    reason = ""
    try:
        timings = measure(session, case, ids)
    except LabFailure as error:
        timings, reason = dict.fromkeys(ids), str(error)
    rows: list[Trial] = []
    for direction, timing in timings.items():
        row = replace(base, trial_id=ids[direction], case_id=f"{PROTOCOL}-{direction}", direction=direction)
        rows.append(_add_timing(row, timing) if timing else replace(row, status="failed", reason=reason))
    return rows


def measure(session: Session, case: Case, ids: Mapping[str, str]) -> dict[str, Timing | None]:
    """Write a file of the payload's size into the case's store, flush it, and read it back with cold caches.

    Noise is made while the disk takes what was made before, so that making it costs next to nothing of the time of a
    disk that is slower than the processor. Raises LabFailure.
    """
    server, interface = session.platforms["server"], session.interface("server")
    path, patience_s = f"{session.store(case)}/{ids['write']}.bin", deadline_s(case.size_bytes)
    timings: dict[str, Timing | None] = {}
    try:
        make = noise("make", path, case.size_bytes, f"file-share-lab-{session.token}/{ids['write']}")
        timings["write"] = server.clock.timed(interface, path, make, patience_s)
        if "read" in ids:
            server.files.drop_caches()
            give = ("dd", f"if={path}", "of=/dev/null", f"bs={BLOCK_BYTES}")
            timings["read"] = server.clock.timed(interface, "", give, patience_s)
    finally:
        server.files.remove(path)
    return timings


def _add_timing(row: Trial, timing: Timing) -> Trial:
    server = usage(timing.readings, timing.elapsed_s) if len(timing.readings) > 1 else None
    return replace(row, elapsed_s=timing.elapsed_s, observed=Observed(server=server), status="ok")


def add_ceiling(observed: Observed, ceiling: Trial | None) -> Observed:
    """What was observed, with the rate of the store by itself, and what its disks moved meanwhile where counted."""
    if ceiling is None or ceiling.status != "ok" or not ceiling.elapsed_s:
        return observed
    server = ceiling.observed.server or HostUsage()
    moved = server.disk_written_bytes if ceiling.direction == "write" else server.disk_read_bytes
    rate = round(ceiling.size_bytes / ceiling.elapsed_s)
    return replace(observed, store_ceiling_bytes_per_s=rate, store_ceiling_disk_bytes=moved)
