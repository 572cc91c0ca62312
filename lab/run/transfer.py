"""One timed transfer between two hosts whose settings stand: prepare, time, check the wire, verify, clean up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from lab import protocols, workloads
from lab.base.asleep import asleep_s
from lab.base.errors import CommandError, LabFailure, RestoreError, TransferError
from lab.base.present import present
from lab.base.untrusted import first_line
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import ROLES, Role
from lab.platforms import Counters, Timing
from lab.platforms.timing import MountServer
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.run.endpoints import Endpoints, Place, endpoints_of, payload_files
from lab.run.observation import observe
from lab.run.pair import Pair
from lab.run.preparation import cool, lay_out, prepare
from lab.run.radio import with_radios
from lab.run.session import Session, Standing
from lab.run.side_by_side import at_once
from lab.run.store_moved import add_moved, count_moved, find_void, raise_fault
from lab.run.wire_proof import describe_others, not_on_the_wire
from lab.workloads import Move, Payload, Tool, file

MOST_ASLEEP_S = 0.1  # of two clocks that are read one after the other
States: TypeAlias = Mapping[Role, Mapping[str, str]]  # what each host read back of its settings after a transfer


@dataclass(frozen=True)
class Measured:
    """What one transfer came to. ``void`` says why it does not count, and is empty where it does.

    ``server`` is None where nobody logs in there. ``verified``: what was moved was compared byte by byte.
    """

    timing: Timing
    server: Counters | None
    effective: Effective
    void: str
    observed: Observed = field(default_factory=Observed)
    samples: dict[str, object] = field(default_factory=dict)
    verified: bool = True


def transfer(session: Session, case: Case, trial_id: str, deadline_s: float) -> Measured:
    """Move one payload under the client's clock, which ends it after ``deadline_s`` seconds.

    It begins anew where its mount was gone in the middle. Raises LabFailure where it fails or a byte is wrong.
    """
    while True:
        standing = session.stand(case)
        try:
            return _transfer_over(session, standing, case, trial_id, deadline_s)
        except RestoreError:
            raise
        except LabFailure as error:
            # a command that failed prepares or checks it
            may_be_mount = isinstance(error, TransferError | CommandError)
            if not (may_be_mount and session.drop_lost_mount(standing, error)):
                raise_fault(session.pair, standing.store, error)
                raise


@dataclass(frozen=True)
class _Task:
    """A tool, as it is called on the client, and what it is to do there. ``versions`` are those of each end."""

    tool: Tool
    call: tuple[str, ...]
    versions: Mapping[str, str]
    move: Move

    def words(self, of: Callable[[Sequence[str], str, Move], tuple[str, ...]]) -> tuple[str, ...]:
        """The command that a method of the tool makes."""
        return of(self.call, self.versions.get("tool_version", ""), self.move)


def _transfer_over(session: Session, standing: Standing, case: Case, trial_id: str, deadline_s: float) -> Measured:
    """Move the payload once over what stands."""
    pair = session.pair
    placed = replace(case, direction=Direction.WRITE) if case.is_of_names else case  # the client has the list
    endpoints = endpoints_of(pair, standing, placed, trial_id)
    payload, keeps = session.payload, _keeps_what_it_moves(case)
    files_of_folder = case.files if payload.is_folder else None
    with payload_files(pair, endpoints, standing.mount.payloads, files_of_folder) as files:
        task = _task(session, standing, case, endpoints)
        argv = task.words(task.tool.argv)
        prepare(session, standing, placed, endpoints, argv)
        lay_out(session, standing, case, task.words(task.tool.lay_out), endpoints.target)
        stored_before = count_moved(pair, standing.store)
        slept_s, before = asleep_s(), _count_server(pair)
        flush = endpoints.flush if keeps and not case.is_of_names else ""
        timing = _time(pair, standing, case, endpoints, flush, argv, deadline_s)
        counted, slept_s = [*before, *_count_server(pair)], asleep_s() - slept_s
        stored_after = count_moved(pair, standing.store)
        report = task.tool.read_report(timing.printed, task.move) or Observed()
        ways = _ways_of(case, report)
        # what was sampled ends with the last reading, whatever the check does meanwhile
        observed = partial(observe, pair, ways[0], timing, counted, case.files)
        _, (radios, (seen, _)) = at_once(
            partial(_check, session, standing, case, endpoints, task),
            partial(
                at_once, session.radios.read, partial(at_once, observed, partial(files.remove, endpoints.source_place))
            ),
        )
    states = {Role.CLIENT: timing.counted.state} | ({Role.SERVER: counted[-1].state} if counted else {})
    moved = counted[-1].since(counted[0]) if counted else None
    unproven = _describe_unproven(pair, standing, ways, timing)
    of_server = describe_others(Role.SERVER, case, moved) if moved else ()
    others = dict([*describe_others(Role.CLIENT, case, timing.counted), *of_server])
    effective = _effective(standing, case, timing, states, {**task.versions, **others, **seen.effective})
    recorded = replace(with_radios(seen.observed, radios), requests=report.requests, frames=report.frames)
    recorded = add_moved(recorded, standing.store, stored_before, stored_after)
    void = _describe_sleep(pair, slept_s) or unproven or _not_in_effect(pair, case, states) or seen.void
    void = void or find_void(pair, standing.store, case, recorded)
    timing = replace(timing, elapsed_s=task.tool.elapsed_s(report, timing.elapsed_s))
    return Measured(timing, moved, effective, void, recorded, seen.samples, keeps)


def _task(session: Session, standing: Standing, case: Case, endpoints: Endpoints) -> _Task:
    """The tool of a case, and what it is to do in a trial of it."""
    tool = workloads.tool(case.tool)
    plain = session.pair.platforms[Role.CLIENT].programs.call(tool.program)
    call, source = call_for(session.payload, tool, plain, endpoints.source)
    move = Move(
        source=source, target=endpoints.target, size_bytes=case.size_bytes, direction=case.direction,
        remote_shell=standing.attached.remote_shell, options=case.tool_options,
    )  # fmt: skip
    return _Task(tool, call, _versions(session, standing, tool), move)


def call_for(payload: Payload, tool: Tool, call: Sequence[str], source: str) -> tuple[tuple[str, ...], str]:
    """The words that call a tool for a payload, and its source: what is in a folder goes into one of the same name."""
    if not payload.is_folder:
        return tuple(call), source
    again = tool.second_copy_options if payload.is_second_copy else ()
    return (*call, *present(tool.folder_options), *again), f"{source}{tool.contents}"  # others are in no case


def _time(
    pair: Pair,
    standing: Standing,
    case: Case,
    endpoints: Endpoints,
    flush: str,
    argv: tuple[str, ...],
    deadline_s: float,
) -> Timing:
    """Run the tool under the client's clock. Raises TransferError, which names a lack of space."""
    clock, interface = pair.platforms[Role.CLIENT].clock, pair.interface(Role.CLIENT)
    try:
        return clock.time_transfer(interface, flush, argv, deadline_s, _server_of_mount(pair, standing, case))
    except TransferError as error:
        if lack := _find_lack_of_space(pair, endpoints, case):
            # first, for the middle of a long message is left out where people read it
            raise TransferError(f"{lack}; {error.message}", error.remedy, host=endpoints.target_place.role) from error
        raise


def _keeps_what_it_moves(case: Case) -> bool:
    """Whether what the tool moves lies somewhere afterwards, to be flushed and compared."""
    return case.direction is Direction.WRITE or workloads.tool(case.tool).keeps_read


def _ways_of(case: Case, report: Observed) -> list[Case]:
    """The case as what it moved each way, its own direction first: a tool may read and write in one trial."""
    if case.is_of_names or not (requests := report.requests):
        return [case]
    moved = {Direction.READ: requests.read, Direction.WRITE: requests.write}
    ways = [replace(case, direction=way, size_bytes=of.bytes or 0) for way, of in moved.items() if of]
    return sorted(ways, key=lambda way: way.direction is not case.direction)


def _describe_unproven(pair: Pair, standing: Standing, ways: Sequence[Case], timing: Timing) -> str:
    """Why not all of a transfer is proven to have crossed the wire; empty where it is."""
    driver, path = standing.served.drivers[Role.CLIENT], standing.attached.path
    return next(filter(None, (not_on_the_wire(pair, driver, path, way, timing.counted) for way in ways)), "")


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


def _check(session: Session, standing: Standing, case: Case, endpoints: Endpoints, task: _Task) -> None:
    """Compare every byte of what arrived, by a command on the client where the tool has one. Raises TransferError."""
    if not _keeps_what_it_moves(case):
        return
    place, argv = endpoints.target_place, task.words(task.tool.verification)
    if place.in_mount or argv:
        cool(session, standing, Place(place.role, endpoints.target, in_mount=True), case)
    if argv:
        result = session.pair.hosts[Role.CLIENT].run(*argv, deadline_s=file.deadline_s(case.size_bytes), check=False)
        if result.exit_code != 0:
            why = first_line(result.stderr.strip() or result.stdout)
            raise TransferError(f"{endpoints.target} does not hold what was written: {why}", host=Role.CLIENT)
        return
    if case.is_of_names:
        host, names = session.pair.hosts[place.role], session.payload.names()
        task.tool.check_names(host, names, case.files, task.move, place.path)
        return
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
    made = {"server_store": standing.store.description, **standing.store.levels} if standing.store else {}
    return Effective.from_json({**network, **disks, **made, **mount, **cache, **ends, **more})


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
