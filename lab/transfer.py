"""One timed transfer between two hosts whose settings stand: prepare, time, check the wire, verify, clean up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lab import workloads
from lab.errors import HostError, LabFailure, TransferError
from lab.hosts import ROLES
from lab.platforms import Counters, Timing
from lab.session import Case, Session


@dataclass(frozen=True)
class Measured:
    """What one transfer came to. ``void`` says why it does not count, and is empty where it does."""

    timing: Timing
    server: Counters
    effective: dict[str, Any]
    void: str


@dataclass(frozen=True)
class Way:
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
    way = _way(session, case, trial_id)
    payload, tool = workloads.payload(case.workload), workloads.tool(case.tool)
    client, server = session.platforms["client"], session.platforms["server"]
    with _files(session, way):
        payload.make(session.hosts[way.source_role], way.source_path, case.size_bytes)
        if case.direction == "read":
            client.drop_caches()
        shell = session.attached.remote_shell if session.attached else ""
        argv = tool.argv(client.name, way.source, way.target, shell)
        before = server.counters(session.interface("server"))
        try:
            timing = client.timed(session.interface("client"), way.flush, argv, deadline_s)
        except TransferError as error:
            raise TransferError(f"{error}{_no_room(session, way, case)}") from error
        counted = server.counters(session.interface("server"))
        _verify(session, case, way)
    states = {"client": timing.counted.state, "server": counted.state}
    void = _void(case, timing) or _not_in_effect(session, case, states)
    return Measured(timing, counted.since(before), _effective(session, timing, states), void)


def _way(session: Session, case: Case, trial_id: str) -> Way:
    if session.attached is None:
        raise LabFailure("client: no share is attached")
    name = f"{trial_id}.bin"
    share = session.share(case)
    here = f"{session.sides['client'].directory}/ram/{name}"
    store = session.store(case)
    there = f"{store}/{name}"
    seen = f"{session.attached.path}{store.removeprefix(share.path)}/{name}"
    mounted = not session.attached.remote_shell
    if case.direction == "write":
        return Way(here, seen, seen if mounted else "", "client", here, "server", there)
    return Way(seen, here, here, "server", there, "client", here)


def _no_room(session: Session, way: Way, case: Case) -> str:
    """Whether a full disk is behind a failure: what file protocols make of it is often just an input/output error."""
    folder = way.target_path.rpartition("/")[0]
    try:
        free = session.platforms[way.target_role].free_bytes(folder)
    except LabFailure:
        return ""
    return f"; {way.target_role}: no space: only {free} bytes are left in {folder}" if free < case.size_bytes else ""


@contextmanager
def _files(session: Session, way: Way) -> Iterator[None]:
    """Remove both files at the end, or a RAM disk soon is full; a host out of reach keeps its own until restored."""
    try:
        yield
    finally:
        for role, path in ((way.source_role, way.source_path), (way.target_role, way.target_path)):
            try:
                session.platforms[role].remove_files(path)
            except HostError:
                continue


def _verify(session: Session, case: Case, way: Way) -> None:
    """Compare the content where it came from with where it came to rest; both hosts work at the same time."""
    payload = workloads.payload(case.workload)

    def fingerprint(end: tuple[str, str]) -> str:
        role, path = end
        hasher = session.platforms[role].hash_command()
        return payload.fingerprint(session.hosts[role], path, hasher, case.size_bytes)

    ends = (way.source_role, way.source_path), (way.target_role, way.target_path)
    with ThreadPoolExecutor(len(ends)) as threads:
        source, target = threads.map(fingerprint, ends)
    if source != target:
        raise TransferError(f"{way.target_role}: {way.target_path} does not hold what was sent")


def _effective(session: Session, timing: Timing, states: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """What was in effect while the bytes moved, as read back from both hosts and from the attachment."""
    found = {f"{role}_{name}": value for role in ROLES for name, value in states[role].items()}
    attached = session.attached.effective if session.attached else {}
    return {**found, **attached, "clock": timing.clock, "flushed": timing.flushed}


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
            found = session.platforms[role].tcp_space_in(state)
            if set(found) != {case.tcp_space}:
                return f"the TCP buffers of the {role} were {found} during the transfer, not {case.tcp_space}"
    return ""
