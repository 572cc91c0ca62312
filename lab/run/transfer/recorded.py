"""The trials of a run as they come: each is appended to the run folder, and none is measured twice."""

import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from lab.base.errors import BadInput
from lab.design.blocks import Slot, block_slots
from lab.design.factors import LOCAL
from lab.design.plan import Plan
from lab.design.sweep_file import Sweep
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from lab.results.set_aside import ASIDE, FAILED, is_aside, set_aside
from lab.results.trial import CEILINGS, Trial
from lab.run.transfer.result import TransferResult

VOID = "-void"  # in the id of a void test of the link; mostly a good test has the id before it


def now() -> str:
    """The time of the controller's clock, in the format of a trial's ``started_at``."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Recorded:
    """The trials that a run folder holds, by id."""

    def __init__(self, folder: RunFolder):
        self.folder = folder
        self._trials = {trial.trial_id: trial for trial in folder.trials()}

    @property
    def not_ok(self) -> int:
        """How many trials of the run are failed or void, without those that were replaced."""
        counted = (trial.trial_id for trial in self._trials.values() if trial.status != "ok")
        return sum(not is_aside(trial_id) and not self._is_replaced(trial_id) for trial_id in counted)

    @property
    def failed_blocks(self) -> set[int]:
        """The blocks with a failed trial."""
        return {trial.block for trial in self._trials.values() if trial.status == "failed"}

    def failed(self, trial_ids: Iterable[str]) -> set[str]:
        """The ids of the failed ones among these trials."""
        trials = (self._trials.get(trial_id) for trial_id in trial_ids)
        return {trial.trial_id for trial in trials if trial and trial.status == "failed"}

    def _is_replaced(self, trial_id: str) -> bool:
        replacement = self._trials.get(trial_id.partition(VOID)[0]) if VOID in trial_id else None
        return replacement is not None and replacement.status == "ok"

    def __contains__(self, trial_id: str) -> bool:
        return trial_id in self._trials

    def get(self, trial_id: str) -> Trial | None:
        """The trial of this id; None if it was not run yet."""
        return self._trials.get(trial_id)

    def of_block(self, block: int) -> list[Trial]:
        """The trials of a block that were not set aside."""
        return [trial for trial in self._trials.values() if trial.block == block and not is_aside(trial.trial_id)]

    def set_disturbed_aside(self, block: int, reason: str) -> None:
        """Set all trials of a block aside as disturbed, because the block is measured again."""
        self._set_aside({trial.trial_id for trial in self.of_block(block)}, ASIDE, reason)

    def set_failed_aside(self, trial_ids: Collection[str]) -> None:
        """Set failed trials aside, because they are measured again."""
        if trial_ids:
            self._set_aside(trial_ids, FAILED)

    def _set_aside(self, trial_ids: Collection[str], ending: str, reason: str = "") -> None:
        set_aside(self.folder, trial_ids, ending, reason)
        self._trials = {trial.trial_id: trial for trial in self.folder.trials()}

    def of_case(self, case_id: str) -> list[Trial]:
        """The trials of a case, of all blocks, that were not set aside."""
        return [trial for trial in self._trials.values() if trial.case_id == case_id and not is_aside(trial.trial_id)]

    def free_id(self, trial_id: str) -> str:
        """This id; if it is taken, the id with the first of ``-2``, ``-3`` … that is free."""
        names = itertools.chain([trial_id], (f"{trial_id}-{count}" for count in itertools.count(2)))
        return next(name for name in names if name not in self._trials)

    def add(self, trial: Trial) -> None:
        """Append a trial."""
        self.folder.append(trial)
        self._trials[trial.trial_id] = trial

    def missing(self, ids: Mapping[str, str]) -> dict[str, str]:
        """The ids, by direction, of trials that were not run yet."""
        return {direction: trial_id for direction, trial_id in ids.items() if trial_id not in self._trials}


def check_recorded(folder: RunFolder, sweep: Sweep, planned: Plan) -> None:
    """Raise BadInput if a run folder has another case in a slot than the sweep gives, or cannot be read."""
    protocols = (*CEILINGS, LOCAL)  # their ids have no slot
    transfers = [trial for trial in folder.trials() if trial.protocol not in protocols and not is_aside(trial.trial_id)]
    blocks = range(1, min(sweep.most_blocks, max((trial.block for trial in transfers), default=0)) + 1)
    slots_of = partial(block_slots, sweep, planned.cases, ordering=folder.ordering)
    due = {slot.trial_id: slot for block in blocks for slot in slots_of(block)}
    for trial in transfers:
        slot = due.get(trial.trial_id)
        if slot is None or (trial.case_id, trial.anchor) != (slot.case.case_id, slot.anchor):
            raise BadInput(
                f"{folder.trials_path}: {trial.trial_id} is of {trial.case_id}, and this lab would run "
                f"{slot.case.case_id if slot else 'nothing'} there",
                "go on with the version that began the run (code_version in run.json)",
            )


def plan_trial(slot: Slot, started_at: str) -> Trial:
    """The trial of a slot before it is measured: failed, until a measurement replaces that."""
    case = slot.case
    return Trial(
        trial_id=slot.trial_id, case_id=case.case_id, block=slot.block, position=slot.position, started_at=started_at,
        protocol=case.protocol, tool=case.tool, direction=case.direction.value, workload=case.workload,
        store=case.store, mtu=case.mtu, tcp_space=case.tcp_space, options=dict(case.options),
        size_bytes=case.clients * case.size_bytes, files=case.clients * case.files,
        status="failed", anchor=slot.anchor,
    )  # fmt: skip


def add_measured(planned: Trial, measured: TransferResult, observed: Observed) -> Trial:
    """The trial with the result of its transfer; ``observed`` includes what it is compared with."""
    client, server = measured.timing.counted, measured.server
    resent = [host.retransmits for host in (client, server) if host and host.retransmits is not None]
    return replace(
        planned, elapsed_s=measured.timing.elapsed_s, client_cpu_s=client.cpu_s,
        server_cpu_s=server.cpu_s if server else None,
        wire_tx_bytes=client.tx_bytes, wire_rx_bytes=client.rx_bytes, retransmits=sum(resent) if resent else None,
        effective=measured.effective, verified=measured.verified,
        status="void" if measured.void else "ok", reason=measured.void,
        observed=observed,
    )  # fmt: skip
