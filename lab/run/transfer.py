"""One timed transfer between two hosts whose settings stand: prepare, time, check the wire, verify, clean up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from lab import protocols, workloads
from lab.base.asleep import asleep_s
from lab.base.errors import CommandError, LabFailure, TransferError
from lab.base.present import present
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import ROLES, Role
from lab.platforms import Counters, Timing
from lab.platforms.timing import MountServer
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.run.endpoints import Endpoints, endpoints_of, payload_files
from lab.run.observation import observe
from lab.run.pair import Pair
from lab.run.preparation import cool, prepare
from lab.run.radio import with_radios
from lab.run.session import Session, Standing
from lab.run.side_by_side import at_once
from lab.run.wire_proof import describe_others, not_on_the_wire
from lab.workloads import Payload, Tool

MOST_ASLEEP_S = 0.1  # of two clocks that are read one after the other
States: TypeAlias = Mapping[Role, Mapping[str, str]]  # what each host read back of its settings after a transfer


@dataclass(frozen=True)
class Measured:
    """What one transfer came to. ``void`` says why it does not count, and is empty where it does.

    ``server`` is None where nobody logs in there.
    """

    timing: Timing
    server: Counters | None
    effective: Effective
    void: str
    observed: Observed = field(default_factory=Observed)
    samples: dict[str, object] = field(default_factory=dict)


def transfer(session: Session, case: Case, trial_id: str, deadline_s: float) -> Measured:
    """Move one payload under the client's clock, which ends it after ``deadline_s`` seconds.

    It begins anew where its mount was gone in the middle. Raises LabFailure where it fails or a byte is wrong.
    """
    while True:
        standing = session.stand(case)
        try:
            return _transfer_over(session, standing, case, trial_id, deadline_s)
        except (TransferError, CommandError) as error:  # the latter of what prepares it, or checks it
            if not session.drop_lost_mount(standing, error):
                raise


def _transfer_over(session: Session, standing: Standing, case: Case, trial_id: str, deadline_s: float) -> Measured:
    """Move the payload once over what stands."""
    pair = session.pair
    endpoints = endpoints_of(pair, standing, case, trial_id)
    tool = workloads.tool(case.tool)
    client = pair.platforms[Role.CLIENT]
    files_of_folder = case.files if session.payload.is_folder else None
    with payload_files(pair, endpoints, standing.mount.payloads, files_of_folder) as files:
        versions = _versions(session, standing, tool)
        shell = standing.attached.remote_shell
        call = client.programs.call(tool.program)
        argv = _command(session.payload, tool, call, versions.get("tool_version", ""), endpoints, shell)
        prepare(session, standing, case, endpoints, argv)
        slept_s = asleep_s()
        before = _count_server(pair)
        try:
            timing = client.clock.time_transfer(
                pair.interface(Role.CLIENT), endpoints.flush, argv, deadline_s, _server_of_mount(pair, standing, case)
            )
        except TransferError as error:
            if lack := _find_lack_of_space(pair, endpoints, case):
                # first, for the middle of a long message is left out where people read it
                raise TransferError(
                    f"{lack}; {error.message}", error.remedy, host=endpoints.target_place.role
                ) from error
            raise
        counted, slept_s = [*before, *_count_server(pair)], asleep_s() - slept_s
        # what was sampled ends with the last reading, whatever the check does meanwhile
        observed = partial(observe, pair, case, timing, counted, case.files)
        _, (radios, (seen, _)) = at_once(
            partial(_check, session, standing, case, endpoints),
            partial(
                at_once, session.radios.read, partial(at_once, observed, partial(files.remove, endpoints.source_place))
            ),
        )
    states = {Role.CLIENT: timing.counted.state} | ({Role.SERVER: counted[-1].state} if counted else {})
    driver, path = standing.served.drivers[Role.CLIENT], standing.attached.path
    moved = counted[-1].since(counted[0]) if counted else None
    unproven = not_on_the_wire(pair, driver, path, case, timing.counted)
    void = _describe_sleep(pair, slept_s) or unproven or _not_in_effect(pair, case, states) or seen.void
    of_server = describe_others(Role.SERVER, case, moved) if moved else ()
    others = dict([*describe_others(Role.CLIENT, case, timing.counted), *of_server])
    effective = _effective(standing, case, timing, states, {**versions, **others, **seen.effective})
    return Measured(timing, moved, effective, void, with_radios(seen.observed, radios), seen.samples)


def _command(
    payload: Payload, tool: Tool, call: Sequence[str], version: str, endpoints: Endpoints, shell: str
) -> tuple[str, ...]:
    """The tool's command; what lies in a folder goes into a new one, whatever its tool calls that."""
    if not payload.is_folder:
        return tool.argv(call, version, endpoints.source, endpoints.target, shell)
    options = tool.second_copy_options if payload.is_second_copy else ()
    call = (*call, *present(tool.folder_options), *options)  # no case has a tool that copies no folder
    return tool.argv(call, version, f"{endpoints.source}{tool.contents}", endpoints.target, shell)


def _describe_sleep(pair: Pair, slept_s: float) -> str:
    """Why a transfer from this machine does not count that slept meanwhile; empty where it did not."""
    if pair.config.client.transport != "local" or slept_s < MOST_ASLEEP_S:
        return ""
    return f"this machine slept for {slept_s:.0f} s during the transfer"


def _count_server(pair: Pair) -> list[Counters]:
    """What the server counts at present; of one that nobody logs in to, nothing."""
    if Role.SERVER not in pair.roles:
        return []
    return [pair.platforms[Role.SERVER].clock.counters(pair.interface(Role.SERVER))]


def _check(session: Session, standing: Standing, case: Case, endpoints: Endpoints) -> None:
    """Compare every byte of what arrived. Raises TransferError."""
    place = endpoints.target_place
    if place.in_mount:
        cool(session, standing, place, case)
    session.payload.check(session.pair.hosts[place.role], place.path, case.size_bytes, endpoints.seed)


def _server_of_mount(pair: Pair, standing: Standing, case: Case) -> MountServer | None:
    """The server to watch during a transfer; of one over SSH, ssh itself notices that it is gone."""
    if standing.attached.remote_shell:
        return None
    address, port = pair.sides[Role.SERVER].address, protocols.find(case.protocol).port
    return MountServer(address, port, case.protocol)


def _find_lack_of_space(pair: Pair, endpoints: Endpoints, case: Case) -> str:
    """The full disk behind a failure, of which file protocols often make an input/output error; empty for none."""
    folder = endpoints.target_place.path.rpartition("/")[0]
    files = pair.platforms[endpoints.target_place.role].files
    try:
        free_bytes, free_files = files.free_bytes(folder), files.free_files(folder) if case.files > 1 else None
    except LabFailure:
        return ""
    if free_bytes < case.size_bytes:
        return f"no space: only {free_bytes} bytes are left in {folder}"
    if free_files is not None and free_files < case.files:
        return f"no inodes: {folder} takes only {free_files} more files"
    return ""


def _versions(session: Session, standing: Standing, tool: Tool) -> dict[str, str]:
    """Which version of the tool works at each end, where that makes a difference; over a mount there is one end.

    Each host is asked once in a run.
    """
    pair, known = session.pair, session.tool_versions
    ends = {Role.CLIENT: "tool_version"}
    if standing.attached.remote_shell:
        ends[Role.SERVER] = "server_tool_version"
    for role in ends:
        if (role, tool.name) not in known:
            call = pair.platforms[role].programs.call(tool.program)
            known[role, tool.name] = tool.version(pair.hosts[role], call)
    return {name: version for role, name in ends.items() if (version := known[role, tool.name])}


def _effective(
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
    return Effective.from_json({**network, **disks, **mount, **cache, **ends, **more})


def _not_in_effect(pair: Pair, case: Case, states: States) -> str:
    """Which setting was not as the case says, as read after the transfer; empty where all were."""
    for role, state in states.items():
        if state.get("mtu") != str(case.mtu):
            return f"the MTU of the {role} was {state.get('mtu')} during the transfer, not {case.mtu}"
        if case.tcp_space != "default":
            sizes = pair.platforms[role].settings.tcp_buffers_in(state)
            if set(sizes) != {case.tcp_space}:
                return f"the TCP buffers of the {role} were {sizes} during the transfer, not {case.tcp_space}"
    return ""
