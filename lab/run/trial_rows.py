"""A trial as a record: before anything of it was measured, and with what came of its transfer."""

from __future__ import annotations

from dataclasses import replace

from lab.design.blocks import Slot
from lab.results.observed import Observed
from lab.results.trial import Trial
from lab.run.measured import Measured


def plan_trial(slot: Slot, started_at: str) -> Trial:
    """The trial of a slot before anything of it was measured: failed, until something says otherwise."""
    case = slot.case
    return Trial(
        trial_id=slot.trial_id, case_id=case.case_id, block=slot.block, position=slot.position, started_at=started_at,
        protocol=case.protocol, tool=case.tool, direction=case.direction.value, workload=case.workload,
        store=case.store, mtu=case.mtu, tcp_space=case.tcp_space, options=dict(case.options),
        size_bytes=case.clients * case.size_bytes, files=case.clients * case.files,
        status="failed", anchor=slot.anchor,
    )  # fmt: skip


def add_measured(planned: Trial, measured: Measured, observed: Observed) -> Trial:
    """The trial with what came of its transfer; ``observed`` has what it is compared with, too."""
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
