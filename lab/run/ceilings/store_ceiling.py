"""The store's ceiling: what the server's store takes and gives, without a network and a file protocol.

The store is measured on the server, by the lab's clock there, once in a block for the levels of its options. The folder
is the lab's own: on the server's disk beside the case's files, or in a file system that is made for it.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from lab.base.errors import LabFailure, RestoreError
from lab.design import store_shots
from lab.design.blocks import Slot
from lab.design.factors import LOCAL, owner_of
from lab.design.sweep_file import Sweep
from lab.hosts import Role
from lab.hosts.own_folder import new_name
from lab.results.effective import Effective
from lab.results.observed import HostUsage, Observed
from lab.results.trial import DD, DISK, MEMORY, STORE_PROTOCOL, Trial
from lab.run.case import made_store
from lab.run.case.made_store import MadeStore
from lab.run.case.pair import Pair
from lab.run.case.session import Session
from lab.run.ceilings import store_tools
from lab.run.ceilings.store_tools import Measure, OwnStore
from lab.run.transfer.recorded import Recorded, now, plan_trial
from lab.run.transfer.store_moved import find_fault, raise_fault
from lab.workloads import bonnie


def measure_store(session: Session, slot: Slot, sweep: Sweep, recorded: Recorded) -> list[Trial]:
    """The shots of dd in the slot's direction; what its block lacks of its store is measured first.

    None if the case's files are in the server's memory, or only the share's mount leads there.
    """
    if not made_store.is_measured(slot.case.store) or session.pair.config.through_mount:
        return []
    rows = plan_rows(session.pair, slot, sweep)
    if any(row.trial_id not in recorded for row in rows):
        _measure(session, slot, rows, sweep, recorded)
    shots = [recorded.get(row.trial_id) for row in rows if row.tool == DD]
    return [shot for shot in shots if shot and shot.direction == slot.case.direction]


def measure_local_store(session: Session, slot: Slot, sweep: Sweep, recorded: Recorded) -> Trial:
    """Measure what the block lacks of the slot's store; returns the first failed trial, else the first shot of dd.

    What cannot be measured is failed trials. Raises RestoreError if something could not be put back.
    """
    rows = plan_rows(session.pair, slot, sweep)
    try:
        _measure(session, slot, rows, sweep, recorded)
    except RestoreError:
        raise
    except LabFailure as error:
        for row in rows:
            if row.trial_id not in recorded:
                recorded.add(replace(row, status="failed", reason=error.cause_first()))
    trials = [trial for row in rows if (trial := recorded.get(row.trial_id))]
    return next((trial for trial in trials if trial.status == "failed"), trials[0])


def is_done(pair: Pair, slot: Slot, sweep: Sweep, recorded: Recorded) -> bool:
    """Whether the slot's block has recorded all that is measured of its store."""
    return all(row.trial_id in recorded for row in plan_rows(pair, slot, sweep))


def ids(pair: Pair, slot: Slot, sweep: Sweep) -> list[str]:
    """The ids of what is measured of the slot's store; none if nothing is."""
    is_measured = made_store.is_measured(slot.case.store) and not pair.config.through_mount
    return [row.trial_id for row in plan_rows(pair, slot, sweep)] if is_measured else []


def plan_rows(pair: Pair, slot: Slot, sweep: Sweep) -> list[Trial]:
    """The planned trials of the slot's store by itself in its block, tool by tool.

    Reading needs cold caches, and a server that is not tuned keeps its own. In a sweep of stores alone dd's shots are
    its trials.
    """
    facts, case, planned = pair.facts[Role.SERVER], slot.case, plan_trial(slot, now())
    payload_bytes = planned.size_bytes
    levels = {name: level for name, level in case.options if owner_of(name) == case.store}
    base = replace(planned, position=0, protocol=STORE_PROTOCOL, files=1, anchor=False, options=levels)
    # tells a store from the others of the sweep; there is one disk
    names = [f"{name}={level.replace(' ', '')}" for name, level in case.store_options.items()]
    prefix = "-".join([STORE_PROTOCOL, *([] if case.store == DISK else [case.store, *names])])
    rows: list[Trial] = []

    def add(tool: str, name: str, direction: str, size_bytes: int) -> None:
        kind = f"{prefix}-{name}"
        count = sum(row.case_id == kind for row in rows)
        trial_id = f"b{slot.block:03d}-{kind}" + (f"-{count + 1}" if count else "")
        sized = replace(base, tool=tool, direction=direction, size_bytes=size_bytes)
        if case.is_local and tool == DD:
            sized = replace(sized, protocol=LOCAL, position=slot.position)
        rows.append(replace(sized, trial_id=trial_id, case_id=kind))

    if "dd" in sweep.store_tools:
        room_bytes = made_store.least_room(sweep, pair.config.share.image_size)
        size_bytes = store_shots.shot_bytes(payload_bytes, facts.available_bytes, room_bytes)
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


def _measure(session: Session, slot: Slot, rows: Sequence[Trial], sweep: Sweep, recorded: Recorded) -> None:
    """Measure with each tool that lacks a trial, and record what is missing; what fails is a failed trial."""
    for measure, grouped in groupby(rows, key=lambda row: store_tools.MEASURES[row.tool]):
        of_tool = list(grouped)
        if all(row.trial_id in recorded for row in of_tool):
            continue
        beside, made = session.set_up_store(slot.case)
        bonnie_options = bonnie.Options(sweep.bonnie_fsync, sweep.bonnie_per_byte)
        store = OwnStore(session.pair, f"{beside}/{new_name()}", made, bonnie_options)
        for trial in _outcomes(session, store, measure, of_tool):
            if trial.trial_id not in recorded:  # a read needs a write first, which may be recorded already
                recorded.add(trial)


def _outcomes(session: Session, store: OwnStore, measure: Measure, rows: Sequence[Trial]) -> list[Trial]:
    """The trials of one tool, measured in a folder of its own that is removed afterwards. Raises RestoreError."""
    measured: list[Trial] = []
    reason = fault = ""
    try:
        with session.settings.scope():
            user, files = session.pair.sides[Role.SERVER].user, session.pair.platforms[Role.SERVER].files
            session.settings.apply(files.folder(store.folder, "any", user))
            try:
                measured.extend(measure(store, rows))
                fault = find_fault(session.pair, store.made)
            except RestoreError:
                raise
            except LabFailure as error:
                raise_fault(session.pair, store.made, error)
                raise
    except RestoreError:
        raise
    except LabFailure as error:
        reason = error.cause_first()
    known = {trial.trial_id for trial in measured}
    return [
        *(_finish(trial, fault, store.made) for trial in measured),
        *(replace(row, status="failed", reason=reason) for row in rows if row.trial_id not in known),
    ]


def _finish(trial: Trial, fault: str, made: MadeStore | None) -> Trial:
    """The trial with its store's description; void if the store had a fault at the end."""
    if fault and trial.status == "ok":
        trial = replace(trial, status="void", reason=fault)
    if made is None:
        return trial
    described = {"server_store": made.description, **made.levels}
    return replace(trial, effective=Effective.from_json({**trial.effective.to_json(), **described}))


def add_ceiling(observed: Observed, shots: Sequence[Trial]) -> Observed:
    """What was observed, with the ceiling of the store, and the bytes of its disks if they were counted.

    The ceiling is the median of the shots, or the lower one of two in the middle, so that the bytes are of one shot.
    """
    rated = [(shot.size_bytes / shot.elapsed_s, shot) for shot in shots if shot.status == "ok" and shot.elapsed_s]
    if not rated:
        return observed
    rated.sort(key=lambda shot: shot[0])
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
