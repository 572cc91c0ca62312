"""What was in effect while the bytes of a transfer moved, as read back afterwards, against what its case says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import ROLES, Role
from lab.platforms import Timing
from lab.results.effective import Effective
from lab.run.pair import Pair
from lab.run.standing import Standing

States: TypeAlias = Mapping[Role, Mapping[str, str]]  # what each host read back of its settings after a transfer


def effective_of(
    standing: Standing, case: Case, timing: Timing, states: States, more: Mapping[str, str | int]
) -> Effective:
    """What was in effect while the bytes moved, as read back from both hosts and from the attachment."""
    network = {f"{role}_{name}": value for role, state in states.items() for name, value in state.items()}
    is_known = case.direction is Direction.READ and Role.SERVER in states
    cache = {"server_cache": case.option("server_cache")} if is_known else {}
    with_ram_disk = ROLES if case.store == "ram" else (Role.CLIENT,)
    disks = {f"{role}_ram_disk": standing.ram_disks[role] for role in with_ram_disk}
    ends = {"clock": timing.clock, "flushed": timing.flushed}
    mount = {**standing.served.durability, **standing.attached.effective}
    made = {"server_store": standing.store.description, **standing.store.levels} if standing.store else {}
    return Effective.from_json({**network, **disks, **made, **mount, **cache, **ends, **more})


def not_in_effect(pair: Pair, case: Case, states: States) -> str:
    """Which setting was not as the case says, as read after the transfer; empty where all were."""
    for role, state in states.items():
        if state.get("mtu") != str(case.mtu):
            return f"the MTU of the {role} was {state.get('mtu')} during the transfer, not {case.mtu}"
        if case.tcp_space != "default":
            sizes = pair.platforms[role].settings.tcp_buffers_in(state)
            if set(sizes) != {case.tcp_space}:
                return f"the TCP buffers of the {role} were {sizes} during the transfer, not {case.tcp_space}"
    return ""
