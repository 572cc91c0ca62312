"""One client's part in a transfer: the ends of its payload, and the tool that moves it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from lab import protocols, workloads
from lab.base.errors import LabFailure, RestoreError, TransferError
from lab.base.present import present
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Host, Role
from lab.platforms.network import BlackHole
from lab.platforms.timing import MountServer
from lab.run.case.pair import Pair
from lab.run.case.session import Session
from lab.run.case.sharing import Setup
from lab.workloads import Move, Payload, Tool
from lab.workloads.file import payload_name

IS_FULL = re.compile("No space left on device|[Qq]uota exceeded")  # as cp and rsync write ENOSPC and EDQUOT
PUTS_BACK = "The transfer is ended, and its files are removed; where the share hangs, that takes two minutes"


class NoSpace(TransferError):
    """The share that a transfer writes to through its mount is full, or a quota is reached there."""


@dataclass(frozen=True)
class Place:
    """A file or folder on a host; ``in_mount``: only the client's mount leads there."""

    role: Role
    path: str
    in_mount: bool = False

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Endpoints:
    """The tool's two paths on the client, and where each end really lies.

    ``flush`` is the path to flush after the transfer; empty for none.
    """

    source: str
    target: str
    flush: str
    source_place: Place
    target_place: Place

    @property
    def seed(self) -> str:
        """The payload's unique name; the content follows from it."""
        return self.source_place.name


@dataclass(frozen=True)
class Part:
    """What one client moves, over the setup of its case.

    ``call`` are the words that call the tool, ``versions`` the tool's at each end, by the names of trials.jsonl.
    """

    session: Session
    pair: Pair
    case: Case
    setup: Setup
    endpoints: Endpoints
    tool: Tool
    call: tuple[str, ...]
    versions: Mapping[str, str]
    move: Move

    @property
    def client(self) -> Host:
        """The client."""
        return self.pair.hosts[Role.CLIENT]

    def words(self, method: Callable[[Sequence[str], str, Move], tuple[str, ...]]) -> tuple[str, ...]:
        """The command that a method of the tool makes."""
        return method(self.call, self.versions.get("tool_version", ""), self.move)


def make_part(session: Session, pair: Pair, case: Case, payload_id: str) -> Part:
    """The part of the client of ``pair``; ``payload_id`` begins the name of its payload."""
    setup, tool = session.setup_of(case, pair), workloads.tool(case.tool)
    endpoints = endpoints_of(pair, setup, case, payload_id)
    plain = pair.platforms[Role.CLIENT].programs.call(tool.program)
    call, source = call_for(session.payload, tool, plain, endpoints.source)
    move = Move(
        source=source, target=endpoints.target, size_bytes=case.size_bytes, direction=case.direction,
        remote_shell=setup.attached.remote_shell, options=case.tool_options,
    )  # fmt: skip
    return Part(session, pair, case, setup, endpoints, tool, call, _versions(session, pair, setup, tool), move)


def place_in_mount(setup: Setup, name: str) -> Place:
    """Where a payload of this name lies in the share, as a client sees it."""
    folder = setup.folder.removeprefix(setup.share.path)
    return Place(Role.CLIENT, f"{setup.attached.path}{folder}/{name}", in_mount=True)


def endpoints_of(pair: Pair, setup: Setup, case: Case, payload_id: str) -> Endpoints:
    """The ends of a payload, over the setup of its case."""
    name, in_mount = payload_name(payload_id), pair.config.through_mount and not setup.attached.remote_shell
    # to write a payload through the mount takes as long as to read it
    if in_mount and case.payload_direction is Direction.READ and case.clients == 1:
        name = setup.mount.payloads.get((case.workload, case.size_bytes), name)
    local = Place(Role.CLIENT, f"{pair.sides[Role.CLIENT].directory}/ram/{name}")
    in_share = place_in_mount(setup, name)
    shared = in_share if in_mount else Place(Role.SERVER, f"{setup.folder}/{name}")
    flushed = case.option("client_sync") == "fsync"
    if case.payload_direction is Direction.WRITE:
        flush = in_share.path if flushed and not setup.attached.remote_shell else ""
        return Endpoints(local.path, in_share.path, flush, local, shared)
    return Endpoints(in_share.path, local.path, local.path if flushed else "", shared, local)


def call_for(payload: Payload, tool: Tool, call: Sequence[str], source: str) -> tuple[tuple[str, ...], str]:
    """The words that call a tool for a payload, and its source: the content of a folder goes into a folder."""
    if not payload.is_folder:
        return tuple(call), source
    again = tool.second_copy_options if payload.is_second_copy else ()
    return (*call, *present(tool.folder_options), *again), f"{source}{tool.contents}"


def _versions(session: Session, pair: Pair, setup: Setup, tool: Tool) -> dict[str, str]:
    """The version of the tool at each end, if it makes a difference; each host is asked once in a run."""
    ends = {Role.CLIENT: "tool_version"}
    if setup.attached.remote_shell:
        ends[Role.SERVER] = "server_tool_version"
    versions = {}
    for role, name in ends.items():
        host = pair.hosts[role]
        if (host.name, tool.name) not in session.tool_versions:
            call = pair.platforms[role].programs.call(tool.program)
            session.tool_versions[host.name, tool.name] = tool.version(host, call)
        versions[name] = session.tool_versions[host.name, tool.name]
    return {name: version for name, version in versions.items() if version}


def keeps_what_it_moves(case: Case) -> bool:
    """Whether what the tool moves lies somewhere afterwards, to be flushed and compared."""
    return case.direction is Direction.WRITE or workloads.tool(case.tool).keeps_read


def server_of_mount(part: Part) -> MountServer | None:
    """The server to watch during a transfer; None over SSH, which notices by itself that its server is gone."""
    if part.setup.attached.remote_shell:
        return None
    address, protocol = part.pair.server_seen.address, part.case.protocol
    pings = part.pair.platforms[Role.CLIENT].network.pings(address, part.case.mtu)
    return MountServer(address, protocols.find(protocol).port, protocol, tuple(pings.values()))


@contextmanager
def naming_hole(part: Part) -> Iterator[None]:
    """Name large packets that vanish on the way as the cause of a transfer that failed, and tell the user at once."""
    try:
        yield
    except (RestoreError, NoSpace, BlackHole):
        raise
    except LabFailure as error:
        network, address = part.pair.platforms[Role.CLIENT].network, part.pair.server_seen.address
        if hole := network.find_black_hole(address, part.case.mtu):
            part.session.settings.connections.tell(f"{hole.on_one_line()}. {PUTS_BACK}")
            raise hole from error
        raise


@contextmanager
def naming_full_disk(part: Part) -> Iterator[None]:
    """Name a full disk as the cause of a failed transfer; many file protocols report an input/output error."""
    try:
        yield
    except TransferError as error:
        place = part.endpoints.target_place
        if lack := _find_lack_of_space(part, place):
            # first: the middle of a long message is cut where people read it
            kind = NoSpace if place.in_mount else TransferError
            raise kind(f"{lack}; {error.message}", error.remedy, host=place.role) from error
        if place.in_mount and IS_FULL.search(error.message):  # a quota: nobody tells of it before it is reached
            raise NoSpace(error.message, error.remedy, host=error.host) from error
        raise


def _find_lack_of_space(part: Part, target: Place) -> str:
    folder, case = target.path.rpartition("/")[0], part.case
    files = part.pair.platforms[target.role].files
    try:
        free_bytes, free_files = files.free_bytes(folder), files.free_files(folder) if case.files > 1 else None
    except LabFailure:
        return ""
    if free_bytes < case.size_bytes:
        return f"no space: only {free_bytes} bytes are left in {folder}"
    if free_files is not None and free_files < case.files:
        return f"no inodes: {folder} takes only {free_files} more files"
    return ""
