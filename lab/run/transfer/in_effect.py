"""What was in effect while the bytes of a transfer moved, as read back afterwards, against what its case says."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from lab.base.errors import LabFailure
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import ROLES, Role
from lab.platforms import Timing
from lab.results.effective import Effective
from lab.run.case.pair import Pair
from lab.run.case.setup import Setup

States: TypeAlias = Mapping[Role, Mapping[str, str]]  # what each host read back of its settings after a transfer
Buffers: TypeAlias = Mapping[
    Role, Callable[[Mapping[str, str]], tuple[int, ...]]
]  # how each host's TCP buffers are read


def effective_of(setup: Setup, case: Case, timing: Timing, states: States, more: Mapping[str, str | int]) -> Effective:
    """What was in effect while the bytes moved, as read back from both hosts and from the attachment."""
    network = {f"{role}_{name}": value for role, state in states.items() for name, value in state.items()}
    is_known = case.direction is Direction.READ and Role.SERVER in states
    cache = {"server_cache": case.option("server_cache")} if is_known else {}
    with_ram_disk = ROLES if case.store == "ram" else (Role.CLIENT,)
    disks = {f"{role}_ram_disk": setup.ram_disks[role] for role in with_ram_disk}
    ends = {"clock": timing.clock, "flushed": timing.flushed}
    mount = {**setup.served.durability, **setup.attached.effective}
    made = {"server_store": setup.store.description, **setup.store.levels} if setup.store else {}
    return Effective.from_json({**network, **disks, **made, **mount, **cache, **ends, **more})


def buffers_of(pair: Pair) -> Buffers:
    """How the TCP buffers of both hosts are read, by their platforms."""
    return {role: pair.platforms[role].settings.tcp_buffers_in for role in pair.roles}


def not_in_effect(case: Case, states: States, buffers: Buffers) -> str:
    """Which setting was not as the case says, as read after the transfer; empty where all were. Raises LabFailure."""
    for role, state in states.items():
        if state.get("mtu") != str(case.mtu):
            return f"the MTU of the {role} was {state.get('mtu')} during the transfer, not {case.mtu}"
        if case.tcp_space != "default":
            try:
                sizes = buffers[role](state)
            except (LookupError, ValueError) as error:
                raise LabFailure(f"the TCP buffers cannot be read from {dict(state)}", host=role) from error
            if set(sizes) != {case.tcp_space}:
                return f"the TCP buffers of the {role} were {sizes} during the transfer, not {case.tcp_space}"
    return ""
