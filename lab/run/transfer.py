"""One timed transfer between two hosts whose settings stand: prepare, time, check the wire, verify, clean up."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, TypeVar

from lab import protocols, workloads
from lab.base.errors import HostError, LabFailure, TransferError
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import ROLES, Role
from lab.hosts.own_folder import new_name
from lab.platforms import Counters, Timing
from lab.platforms.timing import MountServer
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.run.observation import observe
from lab.run.pair import Pair
from lab.run.radio import with_radios
from lab.run.session import Session, Standing
from lab.run.wire_proof import describe_others, not_on_the_wire
from lab.workloads import Tool, file
from lab.workloads.file import payload_name

T = TypeVar("T")
U = TypeVar("U")
READ_ALL = 'find "$1" -type f -exec cat {} + > /dev/null'  # $1 is a file, or a folder of files
# $1 a folder, $2 bytes. What a virtual machine has long had free its hypervisor may have taken back, and the first
# touch of it costs up to 13 µs a page: more than the link. What was freed a moment ago is used first.
WARM_MEMORY = (
    'set -C; name=$(cat); cd "$1" && : > "./$name" && { head -c "$2" /dev/zero >> "./$name"; rm -f "./$name"; }'
)
MOST_WARMED = 2**30  # bytes; what is freed beyond that may be taken back before it is used
States: TypeAlias = Mapping[Role, Mapping[str, str]]  # what each host read back of its settings after a transfer


@dataclass(frozen=True)
class Measured:
    """What one transfer came to. ``void`` says why it does not count, and is empty where it does."""

    timing: Timing
    server: Counters
    effective: Effective
    void: str
    observed: Observed = field(default_factory=Observed)
    samples: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Endpoints:
    """From where to where: the tool's two paths on the client, and where each end really lies."""

    source: str
    target: str
    flush: str
    source_role: Role
    source_path: str
    target_role: Role
    target_path: str


def transfer(session: Session, case: Case, trial_id: str, deadline_s: float) -> Measured:
    """Move one payload under the client's clock, which ends it after ``deadline_s`` seconds.

    It begins anew where its mount was gone in the middle. Raises LabFailure where it fails or a byte is wrong.
    """
    while True:
        standing = session.stand(case)
        try:
            return _transfer_over(session, standing, case, trial_id, deadline_s)
        except TransferError as error:
            if not session.drop_lost_mount(standing, error):
                raise


def _transfer_over(session: Session, standing: Standing, case: Case, trial_id: str, deadline_s: float) -> Measured:
    """Move the payload once over what stands."""
    pair = session.pair
    endpoints = _endpoints(pair, standing, case, trial_id)
    payload, tool = workloads.payload(case.workload), workloads.tool(case.tool)
    client, server = pair.platforms[Role.CLIENT], pair.platforms[Role.SERVER]
    seed = endpoints.source_path.rpartition("/")[2]  # no other payload has that name
    with _files(pair, endpoints) as files:
        _prepare(session, standing, case, endpoints, seed)
        versions = _versions(session, standing, tool)
        shell = standing.attached.remote_shell
        call = client.programs.call(tool.program)
        argv = tool.argv(call, versions.get("tool_version", ""), endpoints.source, endpoints.target, shell)
        count = partial(server.clock.counters, pair.interface(Role.SERVER))
        before, _ = _at_once(count, partial(_set_mode, pair, standing, endpoints))
        try:
            timing = client.clock.time_transfer(
                pair.interface(Role.CLIENT), endpoints.flush, argv, deadline_s, _server_of_mount(pair, standing, case)
            )
        except TransferError as error:
            if lack := _find_lack_of_space(pair, endpoints, case):
                raise TransferError(f"{error.message}; {lack}", error.remedy, host=error.host) from error
            raise
        counted = count()
        target = pair.hosts[endpoints.target_role], endpoints.target_path
        # what was sampled ends with the last reading, whatever the check does meanwhile
        observed = partial(observe, pair, case, timing, (before, counted), payload.files(case.size_bytes))
        observe_and_remove = partial(_at_once, observed, partial(files.remove, endpoints.source_role))
        _, (radios, (seen, _)) = _at_once(
            partial(payload.check, *target, case.size_bytes, seed),
            partial(_at_once, session.radios.read, observe_and_remove),
        )
    states = {Role.CLIENT: timing.counted.state, Role.SERVER: counted.state}
    driver, path = standing.served.drivers[Role.CLIENT], standing.attached.path
    unproven = not_on_the_wire(pair, driver, path, case, timing.counted)
    void = unproven or _not_in_effect(pair, case, states) or seen.void
    moved = counted.since(before)
    others = dict([*describe_others(Role.CLIENT, case, timing.counted), *describe_others(Role.SERVER, case, moved)])
    effective = _effective(standing, case, timing, states, {**versions, **others, **seen.effective})
    return Measured(timing, moved, effective, void, with_radios(seen.observed, radios), seen.samples)


def _endpoints(pair: Pair, standing: Standing, case: Case, trial_id: str) -> Endpoints:
    name = payload_name(trial_id)
    on_client = f"{pair.sides[Role.CLIENT].directory}/ram/{name}"
    on_server = f"{standing.folder}/{name}"
    in_share = f"{standing.attached.path}{standing.folder.removeprefix(standing.share.path)}/{name}"
    flushed = case.option("client_sync") == "fsync"
    if case.direction is Direction.WRITE:
        flush = in_share if flushed and not standing.attached.remote_shell else ""
        return Endpoints(on_client, in_share, flush, Role.CLIENT, on_client, Role.SERVER, on_server)
    return Endpoints(in_share, on_client, on_client if flushed else "", Role.SERVER, on_server, Role.CLIENT, on_client)


def _server_of_mount(pair: Pair, standing: Standing, case: Case) -> MountServer | None:
    """The server to watch during a transfer; of one over SSH, ssh itself notices that it is gone."""
    if standing.attached.remote_shell:
        return None
    address, port = pair.sides[Role.SERVER].address, protocols.find(case.protocol).port
    return MountServer(address, port, case.protocol)


def _find_lack_of_space(pair: Pair, endpoints: Endpoints, case: Case) -> str:
    """The full disk behind a failure, of which file protocols often make an input/output error; empty for none."""
    folder = endpoints.target_path.rpartition("/")[0]
    try:
        free = pair.platforms[endpoints.target_role].files.free_bytes(folder)
    except LabFailure:
        return ""
    if free >= case.size_bytes:
        return ""
    return f"{endpoints.target_role}: no space: only {free} bytes are left in {folder}"


def _prepare(session: Session, standing: Standing, case: Case, endpoints: Endpoints, seed: str) -> None:
    """Have the payload lie where it comes from, and the client cold where it reads."""

    def make() -> None:
        payload = workloads.payload(case.workload)
        payload.make(session.pair.hosts[endpoints.source_role], endpoints.source_path, case.size_bytes, seed)

    warm = partial(warm_memory, session.pair, case, endpoints)
    if case.direction is Direction.WRITE:
        _at_once(make, warm)
        return
    stands, _ = _at_once(partial(session.mount_anew, standing), make)
    if not stands:
        session.stand(case)
    _at_once(partial(_prepare_caches, session.pair, case, endpoints), warm)


def _set_mode(pair: Pair, standing: Standing, endpoints: Endpoints) -> None:
    """Give what is written the mode that the mount gives: from 3.5 on, rsync fails over one that it cannot give."""
    if endpoints.source_role is Role.CLIENT and (mode := standing.attached.file_mode):
        pair.hosts[Role.CLIENT].run("chmod", mode, endpoints.source_path)


def warm_memory(pair: Pair, case: Case, endpoints: Endpoints) -> None:
    """Have the memory that a RAM disk of a local lab will take at hand: its hosts are one, often a virtual, machine."""
    role = endpoints.target_role
    is_on_ram_disk = role is Role.CLIENT or (case.store == "ram" and role in pair.with_ram_disk)
    if pair.config.lab.instance is None or pair.platforms[role].name != "linux" or not is_on_ram_disk:
        return
    size_bytes = min(case.size_bytes, MOST_WARMED)
    pair.hosts[role].shell(
        WARM_MEMORY, posixpath.dirname(endpoints.target_path), str(size_bytes),
        given=new_name(), deadline_s=file.deadline_s(size_bytes),
    )  # fmt: skip


def _prepare_caches(pair: Pair, case: Case, endpoints: Endpoints) -> None:
    """Before a read: nothing of it in the client's memory, and all or nothing of it in the server's.

    Warm means that the server has just read all of it; a RAM disk is always so. The client is made cold first: two
    hosts of a local lab share one page cache.
    """
    if case.option("server_cache") == "cold":
        pair.platforms[Role.SERVER].files.drop_caches()
    pair.platforms[Role.CLIENT].files.drop_caches()
    if case.option("server_cache") == "warm" and case.store == "disk":
        deadline_s = file.deadline_s(case.size_bytes)
        pair.hosts[Role.SERVER].shell(READ_ALL, endpoints.source_path, root=True, deadline_s=deadline_s)


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


@dataclass
class _Files:
    """The payload's files that are not removed yet, by the host that they are on."""

    pair: Pair
    paths: dict[Role, str]

    def remove(self, role: Role) -> None:
        """Remove the one on a host, once; a host out of reach keeps its own until restored."""
        if role in self.paths:
            with suppress(HostError):
                self.pair.platforms[role].files.remove(self.paths[role])
            del self.paths[role]


@contextmanager
def _files(pair: Pair, endpoints: Endpoints) -> Iterator[_Files]:
    """Remove both files at the end, or a RAM disk soon is full."""
    paths = {endpoints.source_role: endpoints.source_path, endpoints.target_role: endpoints.target_path}
    files = _Files(pair, paths)
    try:
        yield files
    finally:
        _at_once(partial(files.remove, endpoints.target_role), partial(files.remove, endpoints.source_role))


def _at_once(first: Callable[[], T], other: Callable[[], U]) -> tuple[T, U]:
    """What two things give that are done at the same time. Raises what either raised, once both have ended.

    The first is done in this thread, where an interruption ends it: what changes a host must not go on while it is put
    back.
    """
    with ThreadPoolExecutor(1) as threads:
        started = threads.submit(other)
        value = first()
    return value, started.result()


def _effective(
    standing: Standing, case: Case, timing: Timing, states: States, more: Mapping[str, str | int]
) -> Effective:
    """What was in effect while the bytes moved, as read back from both hosts and from the attachment."""
    network = {f"{role}_{name}": value for role in ROLES for name, value in states[role].items()}
    cache = {"server_cache": case.option("server_cache")} if case.direction is Direction.READ else {}
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
