"""One timed transfer between two hosts whose settings stand: prepare, time, check the wire, verify, clean up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from lab import workloads
from lab.base.errors import HostError, LabFailure, TransferError
from lab.design.case import Case
from lab.hosts import ROLES
from lab.platforms import Counters, Timing
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.run.observation import observe
from lab.run.session import Session
from lab.workloads import Tool, file

READ_ALL = 'find "$1" -type f -exec cat {} + > /dev/null'  # $1 is a file, or a folder of files


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
    source_role: str
    source_path: str
    target_role: str
    target_path: str


def transfer(session: Session, case: Case, trial_id: str, deadline_s: float) -> Measured:
    """Move one payload under the client's clock, which ends it after ``deadline_s`` seconds.

    Raises LabFailure where it fails or a byte is wrong.
    """
    session.stand(case)
    endpoints = _endpoints(session, case, trial_id)
    payload, tool = workloads.payload(case.workload), workloads.tool(case.tool)
    client, server = session.platforms["client"], session.platforms["server"]
    seed = f"file-share-lab-{session.token}/{trial_id}"
    with _files(session, endpoints):
        _prepare(session, case, endpoints, seed)
        shell = session.attached.remote_shell if session.attached else ""
        versions = _versions(session, tool)
        call = client.programs.call(tool.program)
        argv = tool.argv(call, versions.get("tool_version", ""), endpoints.source, endpoints.target, shell)
        before = server.clock.counters(session.interface("server"))
        try:
            timing = client.clock.timed(session.interface("client"), endpoints.flush, argv, deadline_s)
        except TransferError as error:
            raise TransferError(f"{error}{_no_room(session, endpoints, case)}") from error
        counted = server.clock.counters(session.interface("server"))
        seen = observe(session, case, timing, (before, counted), payload.files(case.size_bytes))
        payload.check(session.hosts[endpoints.target_role], endpoints.target_path, case.size_bytes, seed)
    states = {"client": timing.counted.state, "server": counted.state}
    void = _void(case, timing) or _not_in_effect(session, case, states) or seen.void
    effective = _effective(session, case, timing, states, {**versions, **seen.effective})
    return Measured(timing, counted.since(before), effective, void, seen.observed, seen.samples)


def _endpoints(session: Session, case: Case, trial_id: str) -> Endpoints:
    if session.attached is None:
        raise LabFailure("client: no share is attached")
    name = f"{trial_id}.bin"
    share = session.share(case)
    here = f"{session.sides['client'].directory}/ram/{name}"
    store = session.store(case)
    there = f"{store}/{name}"
    seen = f"{session.attached.path}{store.removeprefix(share.path)}/{name}"
    flushed = case.option("client_sync") == "fsync"
    if case.direction == "write":
        mounted = not session.attached.remote_shell
        return Endpoints(here, seen, seen if mounted and flushed else "", "client", here, "server", there)
    return Endpoints(seen, here, here if flushed else "", "server", there, "client", here)


def _no_room(session: Session, endpoints: Endpoints, case: Case) -> str:
    """Whether a full disk is behind a failure: what file protocols make of it is often just an input/output error."""
    folder = endpoints.target_path.rpartition("/")[0]
    try:
        free = session.platforms[endpoints.target_role].files.free_bytes(folder)
    except LabFailure:
        return ""
    return (
        f"; {endpoints.target_role}: no space: only {free} bytes are left in {folder}" if free < case.size_bytes else ""
    )


def _prepare(session: Session, case: Case, endpoints: Endpoints, seed: str) -> None:
    """Have the payload lie where it comes from, and the client cold where it reads."""

    def make() -> None:
        payload = workloads.payload(case.workload)
        payload.make(session.hosts[endpoints.source_role], endpoints.source_path, case.size_bytes, seed)

    if case.direction == "write":
        make()
        return
    _at_once(session.mount_anew, make)
    _prepare_caches(session, case, endpoints)


def _prepare_caches(session: Session, case: Case, endpoints: Endpoints) -> None:
    """Before a read: nothing of it in the client's memory, and all or nothing of it in the server's.

    Warm means that the server has just read all of it; a RAM disk is always so. The client is made cold first: two
    hosts of a local lab share one page cache.
    """
    if case.option("server_cache") == "cold":
        session.platforms["server"].files.drop_caches()
    session.platforms["client"].files.drop_caches()
    if case.option("server_cache") == "warm" and case.store == "disk":
        deadline_s = file.deadline_s(case.size_bytes)
        session.hosts["server"].shell(READ_ALL, endpoints.source_path, root=True, deadline_s=deadline_s)


def _versions(session: Session, tool: Tool) -> dict[str, str]:
    """Which version of the tool works at each end, where that makes a difference; over a mount there is one end."""
    ends = {"client": "tool_version"}
    if session.attached and session.attached.remote_shell:
        ends["server"] = "server_tool_version"
    found = {
        name: tool.version(session.hosts[role], session.platforms[role].programs.call(tool.program))
        for role, name in ends.items()
    }
    return {name: version for name, version in found.items() if version}


@contextmanager
def _files(session: Session, endpoints: Endpoints) -> Iterator[None]:
    """Remove both files at the end, or a RAM disk soon is full; a host out of reach keeps its own until restored."""

    def remove(role: str, path: str) -> None:
        with suppress(HostError):
            session.platforms[role].files.remove(path)

    try:
        yield
    finally:
        _at_once(
            partial(remove, endpoints.source_role, endpoints.source_path),
            partial(remove, endpoints.target_role, endpoints.target_path),
        )


def _at_once(first: Callable[[], None], other: Callable[[], None]) -> None:
    """Do two things on different hosts at the same time. Raises what either raised, once both have ended.

    The first is done in this thread, where an interruption ends it: what changes a host must not go on while it is put
    back.
    """
    with ThreadPoolExecutor(1) as threads:
        started = threads.submit(other)
        first()
    started.result()


def _effective(
    session: Session, case: Case, timing: Timing, states: Mapping[str, Mapping[str, str]], more: Mapping[str, str | int]
) -> Effective:
    """What was in effect while the bytes moved, as read back from both hosts and from the attachment."""
    state = {f"{role}_{name}": value for role in ROLES for name, value in states[role].items()}
    attached = session.attached.effective if session.attached else {}
    cache = {"server_cache": case.option("server_cache")} if case.direction == "read" else {}
    with_ram_disk = ROLES if case.store == "ram" else ("client",)
    disks = {f"{role}_ram_disk": session.ram_disks[role] for role in with_ram_disk}
    ends = {"clock": timing.clock, "flushed": timing.flushed}
    return Effective.from_json({**state, **disks, **session.durability, **attached, **cache, **ends, **more})


def _void(case: Case, timing: Timing) -> str:
    """Why a transfer was none; empty where every byte crossed the wire."""
    counted = timing.counted
    moved = counted.tx_bytes if case.direction == "write" else counted.rx_bytes
    if moved < case.size_bytes:
        return f"only {moved} of {case.size_bytes} bytes crossed the client's interface: something was cached"
    return ""


def _not_in_effect(session: Session, case: Case, states: Mapping[str, Mapping[str, str]]) -> str:
    """Which setting was not as the case says, as read after the transfer; empty where all were."""
    for role, state in states.items():
        if state.get("mtu") != str(case.mtu):
            return f"the MTU of the {role} was {state.get('mtu')} during the transfer, not {case.mtu}"
        if case.tcp_space != "default":
            found = session.platforms[role].settings.tcp_buffers_in(state)
            if set(found) != {case.tcp_space}:
                return f"the TCP buffers of the {role} were {found} during the transfer, not {case.tcp_space}"
    return ""
