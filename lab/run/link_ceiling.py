"""What the link carries under a case's MTU and TCP buffers, when no file protocol stands in the way.

It is measured by iperf3, once in a block for each such network, in both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lab.base.errors import LabFailure
from lab.design.blocks import Slot
from lab.design.factors import Direction
from lab.hosts import Role
from lab.results.trial import Trial
from lab.run.recorded import now
from lab.run.session import Session
from lab.workloads import iperf3

PROTOCOL = "link"


def ids(slot: Slot) -> dict[str, str]:
    """The id of the trial of each direction in the slot's block and network."""
    case = slot.case
    network = f"mtu{case.mtu}-tcp{case.tcp_space}"
    return {direction.value: f"b{slot.block:03d}-{PROTOCOL}-{network}-{direction}" for direction in Direction}


def measure(
    session: Session,
    slot: Slot,
    planned: Trial,
    ids: Mapping[str, str],
    seconds: float,
    record: Callable[[Trial], None],
) -> None:
    """Measure each direction in ``ids``, and record each as it comes. One that fails is a failed trial.

    ``planned`` is a trial of the case, of which they take what they have in common with it. Raises LabFailure where the
    network cannot be set, or iperf3 does not start.
    """
    session.stand_on_network(slot.case)
    with session.settings.scope():
        server = session.pair.sides[Role.SERVER]
        session.settings.apply(iperf3.server(server.host, server.address, server.directory, server.listening))
        for direction, trial_id in ids.items():
            network = f"mtu{slot.case.mtu}-tcp{slot.case.tcp_space}"
            row = replace(
                planned, trial_id=trial_id, case_id=f"{PROTOCOL}-{direction}-{network}", position=0, protocol=PROTOCOL,
                tool=iperf3.NAME, direction=direction, workload="stream", size_bytes=0, files=0, anchor=False,
                started_at=now(),
            )  # fmt: skip
            record(_run(session, row, seconds))


def _run(session: Session, row: Trial, seconds: float) -> Trial:
    """The trial with what came of one test in its direction."""
    client, server = session.pair.hosts[Role.CLIENT], session.pair.sides[Role.SERVER].address
    try:
        report = iperf3.measure(client, server, row.direction, seconds)
    except LabFailure as error:
        return replace(row, status="failed", reason=str(error))
    return replace(
        row, size_bytes=int(report["bytes"]), elapsed_s=report["elapsed_s"], retransmits=int(report["retransmits"]),
        status="ok",
    )  # fmt: skip


def rate(trial: Trial | None) -> float | None:
    """Bytes per second of such a trial; None where it failed."""
    return trial.size_bytes / trial.elapsed_s if trial and trial.status == "ok" and trial.elapsed_s else None
