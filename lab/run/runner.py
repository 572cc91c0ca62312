"""Running a sweep: block by block to the end, to the cap, or until the effects asked for are precise enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lab import workloads
from lab.base.errors import BadInput, LabFailure, RestoreError
from lab.design import stopping
from lab.design.blocks import Slot, block_slots
from lab.design.plan import plan
from lab.design.sweep_file import Sweep
from lab.results import run_folder
from lab.results.run_folder import RunFolder
from lab.results.trial import CEILINGS, Trial
from lab.run import store_ceiling
from lab.run.catalogue import CATALOGUE
from lab.run.session import Session
from lab.run.transfer import Measured, transfer
from lab.stats import wide_effects
from lab.workloads import iperf3

SLACK_S = 30.0  # what a transfer may take beside moving bytes: a disk that has to spin up first
LINK = "link"


@dataclass(frozen=True)
class Ending:
    """How a run ended: ``early`` says why not all trials were run (empty if they were); ``not_ok`` counts bad ones.

    ``imprecise`` says which effects did not reach the precision of the sweep, and how wide each is; empty otherwise.
    """

    early: str
    not_ok: int
    imprecise: str = ""

    @property
    def said(self) -> str:
        """What run.json says of it."""
        return "; ".join(filter(None, [self.early, self.imprecise])) or "complete"


@dataclass(frozen=True)
class Progress:
    """What a watcher is told before and after each trial; ``trial`` is None before it.

    ``total`` are the trials that are certain: those of the least number of blocks, and of the one that runs.
    """

    slot: Slot
    done: int
    total: int
    elapsed_s: float
    trial: Trial | None
    least_blocks: int
    most_blocks: int


def check_recorded(folder: RunFolder, sweep: Sweep) -> None:
    """Raise BadInput where a run folder holds another case than the sweep gives for its place, or cannot be read."""
    transfers = [trial for trial in folder.trials() if trial.protocol not in CEILINGS]
    cases = plan(sweep, CATALOGUE, folder.left_out).cases
    blocks = range(1, min(sweep.most_blocks, max((trial.block for trial in transfers), default=0)) + 1)
    due = {slot.trial_id: slot for block in blocks for slot in block_slots(sweep, cases, block)}
    for trial in transfers:
        slot = due.get(trial.trial_id)
        if slot is None or (trial.case_id, trial.anchor) != (slot.case.case_id, slot.anchor):
            raise BadInput(
                f"{folder.trials_path}: {trial.trial_id} is of {trial.case_id}, and this lab would run "
                f"{slot.case.case_id if slot else 'nothing'} there: go on with the version that began the run "
                f"(code_version in run.json)"
            )


class Runner:
    """Runs the slots of a plan that a run folder does not hold yet, and appends each trial as it comes."""

    def __init__(
        self,
        session: Session,
        folder: RunFolder,
        sweep: Sweep,
        watch: Callable[[Progress], None],
        most_failures: int | None = None,
    ):
        self.session, self.folder, self.sweep, self.watch = session, folder, sweep, watch
        self.most_failures = most_failures
        self.recorded = {trial.trial_id: trial for trial in folder.trials()}
        self.plan = plan(sweep, CATALOGUE, folder.left_out)
        self.wide: dict[int, list[str]] = {}
        self.not_ok = self.failures = self.done = self.total = 0
        self.started = time.monotonic()

    def run(self) -> Ending:
        """Run what is left. The time cap ends it, and so do ``most_failures`` failed trials in a row (None: never).

        With a precision, blocks go on from the least number until it is reached, or the most blocks are done. Raises
        RestoreError where a setting could not be put back, and HostError where a host stays out of reach.
        """
        self.started = time.monotonic()
        self.total = len(self.plan.slots)
        for block in range(1, self.sweep.most_blocks + 1):
            slots = block_slots(self.sweep, self.plan.cases, block)
            if block > self.sweep.blocks:
                self.total += len(slots)
            if early := self._block(slots):
                return Ending(early, self.not_ok, self._imprecise(block - 1))
            if block >= self.sweep.blocks and self._precise(block):
                break
        return Ending("", self.not_ok, self._imprecise(block))

    def _block(self, slots: list[Slot]) -> str:
        """Run what is left of a block; why the run has to end inside it, or empty."""
        left = [slot for slot in slots if slot.trial_id not in self.recorded]
        self.done += len(slots) - len(left)
        for slot in left:
            elapsed_s = time.monotonic() - self.started
            if self.sweep.time_cap is not None and elapsed_s > self.sweep.time_cap:
                return (
                    f"the time cap of {self.sweep.time_cap:g} s was reached after {self.done} of {self._all()} trials"
                )
            self._tell(slot, None)
            trial = self._trial(slot)
            self._record(trial)
            self.done += 1
            self._tell(slot, trial)
            self.failures = self.failures + 1 if trial.status == "failed" else 0
            if self.failures == self.most_failures:
                return f"stopped after {self.failures} failed trials in a row: {trial.reason}"
            if self.failures:  # whatever broke, the next trial starts from servers and mounts of its own
                self.session.recover()
        return ""

    def _all(self) -> str:
        least, most = len(self.plan.slots), self.plan.most.trials
        return f"{least}" if least == most else f"{least} to {most}"

    def _tell(self, slot: Slot, trial: Trial | None) -> None:
        elapsed_s, blocks = time.monotonic() - self.started, (self.sweep.blocks, self.sweep.most_blocks)
        self.watch(Progress(slot, self.done, self.total, elapsed_s, trial, *blocks))

    def _precise(self, blocks: int) -> bool:
        """Whether so many blocks are enough: their intervals, and those of the looks before, were narrow."""
        if self.sweep.precision is None:
            return False
        looks = range(max(1, blocks - stopping.LOOKS + 1), blocks + 1)
        return stopping.enough(blocks, [not self._wide(look) for look in looks])

    def _wide(self, blocks: int) -> list[str]:
        """The effects that the first so many blocks leave too wide. What is recorded does not change, nor does this."""
        if blocks not in self.wide and self.sweep.precision is not None:
            trials = run_folder.load(self.folder.path)
            names = [effect.name for effect in self.plan.effects]
            first = trials[trials["block"] <= blocks]
            self.wide[blocks] = wide_effects(first, names, self.sweep.precision)
        return self.wide[blocks]

    def _imprecise(self, blocks: int) -> str:
        """What is said where so many whole blocks are the last ones, and not enough."""
        if self.sweep.precision is None or (blocks >= self.sweep.blocks and self._precise(blocks)):
            return ""
        wide = "; ".join(self._wide(blocks)) if blocks else ""
        aim = f"the precision of ± {100 * self.sweep.precision:g} % was not reached in {blocks} blocks"
        return f"{aim}: {wide or f'narrow enough, but not yet at {stopping.LOOKS} looks in a row'}"

    def _record(self, trial: Trial) -> None:
        self.folder.append(trial)
        self.recorded[trial.trial_id] = trial
        self.not_ok += trial.status != "ok"

    def _trial(self, slot: Slot) -> Trial:
        planned = plan_trial(slot, _now())
        try:
            planned = replace(planned, ceiling_bytes_per_s=self._ceilings(slot)[slot.case.direction])
            store = self._store_ceiling(slot)
            planned = replace(planned, started_at=_now())
            deadline_s = SLACK_S + slot.case.size_bytes / self.sweep.slowest
            measured = transfer(self.session, slot.case, slot.trial_id, deadline_s)
        except RestoreError:
            raise
        except LabFailure as error:
            return replace(planned, status="failed", reason=str(error))
        self.folder.append_samples(slot.trial_id, measured.samples)
        return add_measured(planned, measured, store)

    def _ceilings(self, slot: Slot) -> dict[str, float | None]:
        """What the link carries under this slot's MTU and TCP buffers: measured once in a block, in both directions."""
        ids = {direction: _link_id(slot, direction) for direction in ("write", "read")}
        if any(trial_id not in self.recorded for trial_id in ids.values()):
            self.session.stand_on_network(slot.case)
            with self.session.settings.scope():
                side = self.session.sides["server"]
                self.session.settings.apply(iperf3.server(side.host, side.address, side.directory))
                for direction, trial_id in ids.items():
                    if trial_id not in self.recorded:
                        self._record(self._link_trial(slot, direction, trial_id))
        return {direction: _rate(self.recorded[trial_id]) for direction, trial_id in ids.items()}

    def _store_ceiling(self, slot: Slot) -> Trial | None:
        """What the server's disk does by itself, in this slot's direction; None where the files are not on it.

        It is measured once in a block, in the folder that the case's files go to.
        """
        if slot.case.store != store_ceiling.STORE:
            return None
        ids = {
            direction: f"b{slot.block:03d}-{store_ceiling.PROTOCOL}-{direction}"
            for direction in store_ceiling.directions(self.session)
        }
        if any(trial_id not in self.recorded for trial_id in ids.values()):
            self.session.stand(slot.case)
            for trial in store_ceiling.trials(self.session, slot.case, plan_trial(slot, _now()), ids):
                if trial.trial_id not in self.recorded:
                    self._record(trial)
        return self.recorded.get(ids.get(slot.case.direction, ""))

    def _link_trial(self, slot: Slot, direction: str, trial_id: str) -> Trial:
        case = slot.case
        planned = replace(
            plan_trial(slot, _now()), trial_id=trial_id, position=0, protocol=LINK, tool=iperf3.NAME,
            case_id=f"{LINK}-{direction}-mtu{case.mtu}-tcp{case.tcp_space}", direction=direction, workload="stream",
            size_bytes=0, files=0, anchor=False,
        )  # fmt: skip
        try:
            server = self.session.sides["server"].address
            counted = iperf3.measure(self.session.hosts["client"], server, direction, self.sweep.ceiling_seconds)
        except LabFailure as error:
            return replace(planned, status="failed", reason=str(error))
        return replace(
            planned, size_bytes=int(counted["bytes"]), elapsed_s=counted["elapsed_s"],
            retransmits=int(counted["retransmits"]), status="ok",
        )  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _link_id(slot: Slot, direction: str) -> str:
    return f"b{slot.block:03d}-{LINK}-mtu{slot.case.mtu}-tcp{slot.case.tcp_space}-{direction}"


def _rate(trial: Trial) -> float | None:
    return trial.size_bytes / trial.elapsed_s if trial.status == "ok" and trial.elapsed_s else None


def plan_trial(slot: Slot, started_at: str) -> Trial:
    """The trial of a slot before anything of it was measured."""
    case = slot.case
    return Trial(
        trial_id=slot.trial_id, case_id=case.case_id, block=slot.block, position=slot.position, started_at=started_at,
        protocol=case.protocol, tool=case.tool, direction=case.direction, workload=case.workload, store=case.store,
        mtu=case.mtu, tcp_space=case.tcp_space, options=dict(case.options), size_bytes=case.size_bytes,
        files=workloads.payload(case.workload).files(case.size_bytes), status="failed", anchor=slot.anchor,
    )  # fmt: skip


def add_measured(planned: Trial, measured: Measured, store: Trial | None) -> Trial:
    """The trial with what came of its transfer; ``store`` is the row of the server's disk by itself."""
    client, server = measured.timing.counted, measured.server
    resent = [count for count in (client.retransmits, server.retransmits) if count is not None]
    return replace(
        planned, elapsed_s=measured.timing.elapsed_s, client_cpu_s=client.cpu_s, server_cpu_s=server.cpu_s,
        wire_tx_bytes=client.tx_bytes, wire_rx_bytes=client.rx_bytes, retransmits=sum(resent) if resent else None,
        effective=measured.effective, verified=True, status="void" if measured.void else "ok", reason=measured.void,
        observed=store_ceiling.add_ceiling(measured.observed, store),
    )  # fmt: skip
