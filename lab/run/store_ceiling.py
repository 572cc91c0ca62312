"""What the server's store takes and gives when no network and no file protocol stand in the way.

It is measured on the server itself with the lab's own clock there, once in a block, in a folder of the lab's own beside
the case's files (:mod:`lab.run.store_tools`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from lab.base.errors import LabFailure, RestoreError
from lab.design import store_shots
from lab.design.blocks import Slot
from lab.design.sweep_file import Sweep
from lab.hosts import Role
from lab.hosts.own_folder import new_name
from lab.results.observed import HostUsage, Observed
from lab.results.trial import DD, MEMORY, STORE_PROTOCOL, Trial
from lab.run import store_tools
from lab.run.pair import Pair
from lab.run.recorded import Recorded, now
from lab.run.session import Session
from lab.run.store_tools import Measure, OwnStore
from lab.run.trial_rows import plan_trial
from lab.workloads import bonnie

STORE = "disk"


def of_slot(session: Session, slot: Slot, sweep: Sweep, recorded: Recorded) -> list[Trial]:
    """The shots of dd in the slot's direction; whatever its block lacks of the store by itself is measured first.

    No shot where the case's files are not on the server's disk, or only the share's mount leads there.
    """
    if slot.case.store != STORE or session.pair.config.through_mount:
        return []
    rows = plan_rows(session.pair, slot, sweep, plan_trial(slot, now()))
    if any(row.trial_id not in recorded for row in rows):
        _measure(session, slot, rows, recorded)
    shots = [recorded.get(row.trial_id) for row in rows if row.tool == DD]
    return [shot for shot in shots if shot and shot.direction == slot.case.direction]


def plan_rows(pair: Pair, slot: Slot, sweep: Sweep, planned: Trial) -> list[Trial]:
    """The trials of the store by itself in the slot's block, before anything was measured, tool by tool.

    ``planned`` is a trial of the case, of which they take what they have in common with it. Reading needs cold caches,
    and a server that is not tuned keeps its own.
    """
    payload_bytes, facts = planned.size_bytes, pair.facts[Role.SERVER]
    base = replace(planned, position=0, protocol=STORE_PROTOCOL, files=1, anchor=False)
    rows: list[Trial] = []

    def add(tool: str, name: str, direction: str, size_bytes: int) -> None:
        kind = f"{STORE_PROTOCOL}-{name}"
        count = sum(row.case_id == kind for row in rows)
        trial_id = f"b{slot.block:03d}-{kind}" + (f"-{count + 1}" if count else "")
        sized = replace(base, tool=tool, direction=direction, size_bytes=size_bytes)
        rows.append(replace(sized, trial_id=trial_id, case_id=kind))

    if "dd" in sweep.store_tools:
        size_bytes = store_shots.shot_bytes(payload_bytes, facts.available_bytes)
        for direction in ("write", "read"):
            for _ in range(store_shots.SHOTS if direction == "write" or pair.config.may_tune("server") else 0):
                add(DD, direction, direction, size_bytes)
            add(MEMORY, f"memory-{direction}", direction, size_bytes)
    if "fio" in sweep.store_tools:
        for direction in ("read", "write"):
            add("fio", f"fio-{direction}", direction, store_shots.fio_bytes(payload_bytes))
    if bonnie.NAME in sweep.store_tools:
        size_bytes = bonnie.file_bytes(sweep.bonnie_size, facts.memory_bytes)
        add(bonnie.NAME, bonnie.NAME, "write", size_bytes)
    return rows


def _measure(session: Session, slot: Slot, rows: Sequence[Trial], recorded: Recorded) -> None:
    """Measure with each tool that lacks a trial, and record what is missing. What fails is a failed trial."""
    beside = session.stand(slot.case).folder
    for measure, grouped in groupby(rows, key=lambda row: store_tools.MEASURES[row.tool]):
        of_tool = list(grouped)
        if all(row.trial_id in recorded for row in of_tool):
            continue
        for trial in _outcomes(session, beside, measure, of_tool):
            if trial.trial_id not in recorded:  # a read needs a write first, which may be on record
                recorded.add(trial)


def _outcomes(session: Session, beside: str, measure: Measure, rows: Sequence[Trial]) -> list[Trial]:
    """The trials of one tool, measured in a folder of its own that goes afterwards; raises RestoreError."""
    done: list[Trial] = []
    reason = ""
    try:
        with session.settings.scope():
            folder, server = f"{beside}/{new_name()}", session.pair.sides[Role.SERVER]
            files = session.pair.platforms[Role.SERVER].files
            session.settings.apply(files.folder(folder, "any", server.user))
            done.extend(measure(OwnStore(session.pair, folder), rows))
    except RestoreError:
        raise
    except LabFailure as error:
        reason = error.cause_first()
    measured = {trial.trial_id for trial in done}
    left = [row for row in rows if row.trial_id not in measured]
    return [*done, *(replace(row, status="failed", reason=reason) for row in left)]


def add_ceiling(observed: Observed, shots: Sequence[Trial]) -> Observed:
    """What was observed, with the rate of the store by itself, and what its disks moved meanwhile where counted.

    It is the median of the shots, of an even number the lower of the two in the middle: what was counted is of that.
    """
    rated = [(shot.size_bytes / shot.elapsed_s, shot) for shot in shots if shot.status == "ok" and shot.elapsed_s]
    if not rated:
        return observed
    rated.sort(key=lambda pair: pair[0])
    (slowest, _), (fastest, _) = rated[0], rated[-1]
    rate, median = rated[(len(rated) - 1) // 2]
    server = median.observed.server or HostUsage()
    return replace(
        observed,
        store_ceiling_bytes_per_s=round(rate),
        store_ceiling_spread=round((fastest - slowest) / rate, 4),
        store_ceiling_size_bytes=median.size_bytes,
        store_ceiling_disk_bytes=server.disk_written_bytes if median.direction == "write" else server.disk_read_bytes,
    )
