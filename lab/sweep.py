"""From factors to cases, from cases to blocks in seeded random order, and running them to the end or to the cap."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from lab import protocols, workloads
from lab.config import Sweep
from lab.errors import BadInput, LabFailure, RestoreError
from lab.results import RunFolder, Trial
from lab.session import Case, Session
from lab.transfer import Measured, transfer
from lab.workloads import iperf3

# What planning assumes before anything was measured: a gigabit link, and what the local lab was seen to need.
ASSUMED_BYTES_PER_S = 100e6
OVERHEAD_S = {"trial": 0.9, "server": 1.0, "network": 1.0}
SLACK_S = 30.0  # what a transfer may take beside moving bytes: a disk that has to spin up first
LINK = "link"


@dataclass(frozen=True)
class Slot:
    """One place in the running order: a case, and where it stands. ``block`` and ``position`` count from 1."""

    block: int
    position: int
    case: Case

    @property
    def trial_id(self) -> str:
        """Unique in a run, and the same when the run is resumed."""
        return f"b{self.block:03d}-{self.position:04d}"


@dataclass(frozen=True)
class Plan:
    """What a sweep would do. ``left_out`` are combinations that mean nothing, with the reason."""

    slots: tuple[Slot, ...]
    cases: tuple[Case, ...]
    left_out: tuple[str, ...]
    changes: dict[str, int]
    bytes_moved: int
    estimated_s: float


def cases_of(sweep: Sweep) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """The cases of a sweep, and why combinations are missing. Raises BadInput for names that nobody knows."""
    _check_names(sweep)
    factors = sweep.factors
    kept, left_out = [], []
    for name, tool in itertools.product(factors.protocol, factors.tool):
        mounted, needs_mount = protocols.find(name).mounted, workloads.tool(tool).needs_mount
        if needs_mount and not mounted:
            left_out.append(f"{name} with {tool}: {tool} needs a mounted share, {name} has none")
            continue
        rest = itertools.product(factors.direction, factors.mtu, factors.tcp_space, factors.store)
        kept += [Case(name, tool, *levels, sweep.workload.kind, sweep.workload.size) for levels in rest]
    if not kept:
        reasons = "; ".join(left_out)
        raise BadInput(f"{sweep.place}[factors] tool: no case is left: {reasons}; add a tool that needs none")
    return tuple(kept), tuple(left_out)


def _check_names(sweep: Sweep) -> None:
    """Raise BadInput for a name that nobody knows, with the key that it stands at."""
    asked: dict[str, tuple[Callable[[str], Any], tuple[str, ...]]] = {
        "[factors] protocol": (protocols.find, sweep.factors.protocol),
        "[factors] tool": (workloads.tool, sweep.factors.tool),
        "[workload] kind": (workloads.payload, (sweep.workload.kind,)),
    }
    for key, (find, names) in asked.items():
        for name in names:
            try:
                find(name)
            except BadInput as error:
                raise BadInput(f"{sweep.place}{key}: {error}") from error


def order(cases: Sequence[Case], seed: int, block: int) -> list[Case]:
    """The cases of one block in its seeded random order.

    What is expensive to change varies slowest, in an order that is itself random in each block: MTU (both links go
    down and up), then TCP buffers (servers restart, for sockets take them when they are made), then protocol and
    store. The cases inside each of these groups come in random order.
    """
    return _shuffled(cases, (_mtu, _tcp_space, _served), random.Random(f"{seed}/{block}"))


def _shuffled(cases: Sequence[Case], keys: Sequence[Callable[[Case], Any]], chance: random.Random) -> list[Case]:
    """The cases in random order, those of equal ``keys[0]`` together, and among them those of equal ``keys[1]``, …"""
    if not keys:
        mixed = list(cases)
        chance.shuffle(mixed)
        return mixed
    groups: dict[Any, list[Case]] = {}
    for case in cases:
        groups.setdefault(keys[0](case), []).append(case)
    in_order = list(groups.values())
    chance.shuffle(in_order)
    return [case for group in in_order for case in _shuffled(group, keys[1:], chance)]


def _served(case: Case) -> Any:
    return case.protocol, case.store


def _tcp_space(case: Case) -> Any:
    return case.tcp_space


def _mtu(case: Case) -> Any:
    return case.mtu


def plan(sweep: Sweep) -> Plan:
    """Everything that a run would do, in order. Touches nothing."""
    cases, left_out = cases_of(sweep)
    slots = tuple(
        Slot(block, position, case)
        for block in range(1, sweep.blocks + 1)
        for position, case in enumerate(order(cases, sweep.seed, block), 1)
    )
    changes = {
        "mtu": _count_changes(slots, lambda case: (case.mtu,)),
        "tcp_space": _count_changes(slots, lambda case: (case.mtu, case.tcp_space)),
        "server": _count_changes(slots, lambda case: (case.mtu, case.tcp_space, case.protocol, case.store)),
    }
    estimated_s = (
        len(slots) * (sweep.workload.size / ASSUMED_BYTES_PER_S + OVERHEAD_S["trial"])
        + changes["server"] * OVERHEAD_S["server"]
        + changes["tcp_space"] * (OVERHEAD_S["network"] + 2 * (sweep.ceiling_seconds + 0.5))
    )
    return Plan(slots, cases, left_out, changes, len(slots) * sweep.workload.size, estimated_s)


def _count_changes(slots: Sequence[Slot], key: Callable[[Case], Any]) -> int:
    return sum(1 for _ in itertools.groupby((slot.block, key(slot.case)) for slot in slots))


@dataclass(frozen=True)
class Ending:
    """How a run ended: ``early`` says why not all trials were run (empty if they were); ``not_ok`` counts bad ones."""

    early: str
    not_ok: int


@dataclass(frozen=True)
class Progress:
    """What a watcher is told before and after each trial; ``trial`` is None before it."""

    slot: Slot
    done: int
    total: int
    elapsed_s: float
    trial: Trial | None


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
        self.not_ok = 0

    def run(self) -> Ending:
        """Run what is left. The time cap ends it, and so do ``most_failures`` failed trials in a row (None: never).

        Raises RestoreError where a setting could not be put back, and HostError where a host stays out of reach.
        """
        started, failures = time.monotonic(), 0
        slots = plan(self.sweep).slots
        left = [slot for slot in slots if slot.trial_id not in self.recorded]
        done = len(slots) - len(left)
        for slot in left:
            elapsed_s = time.monotonic() - started
            if self.sweep.time_cap is not None and elapsed_s > self.sweep.time_cap:
                cap = f"the time cap of {self.sweep.time_cap:g} s was reached after {done} of {len(slots)} trials"
                return Ending(cap, self.not_ok)
            self.watch(Progress(slot, done, len(slots), elapsed_s, None))
            trial = self._trial(slot)
            self._record(trial)
            done += 1
            self.watch(Progress(slot, done, len(slots), time.monotonic() - started, trial))
            failures = failures + 1 if trial.status == "failed" else 0
            if failures == self.most_failures:
                return Ending(f"stopped after {failures} failed trials in a row: {trial.reason}", self.not_ok)
            if failures:  # whatever broke, the next trial starts from servers and mounts of its own
                self.session.recover()
        return Ending("", self.not_ok)

    def _record(self, trial: Trial) -> None:
        self.folder.append(trial)
        self.recorded[trial.trial_id] = trial
        self.not_ok += trial.status != "ok"

    def _trial(self, slot: Slot) -> Trial:
        started_at = _now()
        ceiling: float | None = None
        try:
            ceiling = self._ceilings(slot)[slot.case.direction]
            started_at = _now()
            deadline_s = SLACK_S + slot.case.size_bytes / self.sweep.slowest
            measured = transfer(self.session, slot.case, slot.trial_id, deadline_s)
        except RestoreError:
            raise
        except LabFailure as error:
            came = _found(None) | {"status": "failed", "reason": str(error)}
        else:
            came = _found(measured) | {"status": "void" if measured.void else "ok", "reason": measured.void}
        return Trial(**_asked(slot), **came, started_at=started_at, ceiling_bytes_per_s=ceiling)

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

    def _link_trial(self, slot: Slot, direction: str, trial_id: str) -> Trial:
        case = slot.case
        base = _asked(slot) | _found(None) | {
            "trial_id": trial_id, "case_id": f"{LINK}-{direction}-mtu{case.mtu}-tcp{case.tcp_space}", "position": 0,
            "protocol": LINK, "tool": iperf3.NAME, "direction": direction, "workload": "stream", "files": 0,
            "started_at": _now(), "ceiling_bytes_per_s": None, "status": "failed", "reason": "",
        }  # fmt: skip
        try:
            server = self.session.sides["server"].address
            found = iperf3.measure(self.session.hosts["client"], server, direction, self.sweep.ceiling_seconds)
        except LabFailure as error:
            return Trial(**base | {"size_bytes": 0, "reason": str(error)})
        counted = {
            "size_bytes": int(found["bytes"]), "elapsed_s": found["elapsed_s"],
            "retransmits": int(found["retransmits"]), "status": "ok",
        }  # fmt: skip
        return Trial(**base | counted)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _link_id(slot: Slot, direction: str) -> str:
    return f"b{slot.block:03d}-{LINK}-mtu{slot.case.mtu}-tcp{slot.case.tcp_space}-{direction}"


def _rate(trial: Trial) -> float | None:
    return trial.size_bytes / trial.elapsed_s if trial.status == "ok" and trial.elapsed_s else None


def _asked(slot: Slot) -> dict[str, Any]:
    """The fields of a trial that say what was asked for."""
    case = slot.case
    return asdict(case) | {
        "trial_id": slot.trial_id, "case_id": case.case_id, "block": slot.block, "position": slot.position,
        "options": {}, "files": workloads.payload(case.workload).files(case.size_bytes),
    }  # fmt: skip


def _found(measured: Measured | None) -> dict[str, Any]:
    """The fields of a trial that say what came of it; None and empty where it came to nothing."""
    if measured is None:
        counts = ("elapsed_s", "client_cpu_s", "server_cpu_s", "wire_tx_bytes", "wire_rx_bytes", "retransmits")
        return dict.fromkeys(counts) | {"effective": {}, "verified": False}
    client, server = measured.timing.counted, measured.server
    resent = [count for count in (client.retransmits, server.retransmits) if count is not None]
    return {
        "elapsed_s": measured.timing.elapsed_s, "client_cpu_s": client.cpu_s, "server_cpu_s": server.cpu_s,
        "wire_tx_bytes": client.tx_bytes, "wire_rx_bytes": client.rx_bytes,
        "retransmits": sum(resent) if resent else None, "effective": measured.effective, "verified": True,
    }  # fmt: skip
