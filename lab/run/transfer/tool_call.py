"""What one client is to do in a transfer: its tool as it is called, and the check of what arrived."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from lab import protocols, workloads
from lab.base.errors import LabFailure, TransferError
from lab.base.present import present
from lab.base.untrusted import first_line
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms.timing import MountServer
from lab.run.case.client_session import AnySession
from lab.run.case.pair import Pair
from lab.run.case.setup import Setup
from lab.run.transfer.places import Endpoints, Place
from lab.run.transfer.preparation import cool
from lab.workloads import Move, Payload, Tool, file


@dataclass(frozen=True)
class ToolCall:
    """A tool, as it is called on the client, and what it is to do there. ``versions`` are those of each end."""

    tool: Tool
    program: tuple[str, ...]
    versions: Mapping[str, str]
    move: Move

    def words(self, of: Callable[[Sequence[str], str, Move], tuple[str, ...]]) -> tuple[str, ...]:
        """The command that a method of the tool makes."""
        return of(self.program, self.versions.get("tool_version", ""), self.move)


def make_tool_call(session: AnySession, setup: Setup, case: Case, endpoints: Endpoints) -> ToolCall:
    """The tool of a case, and what it is to do in a trial of it."""
    tool = workloads.tool(case.tool)
    plain = session.pair.platforms[Role.CLIENT].programs.call(tool.program)
    call, source = call_for(session.payload, tool, plain, endpoints.source)
    move = Move(
        source=source, target=endpoints.target, size_bytes=case.size_bytes, direction=case.direction,
        remote_shell=setup.attached.remote_shell, options=case.tool_options,
    )  # fmt: skip
    return ToolCall(tool, call, _versions(session, setup, tool), move)


def call_for(payload: Payload, tool: Tool, call: Sequence[str], source: str) -> tuple[tuple[str, ...], str]:
    """The words that call a tool for a payload, and its source: what is in a folder goes into one of the same name."""
    if not payload.is_folder:
        return tuple(call), source
    again = tool.second_copy_options if payload.is_second_copy else ()
    return (*call, *present(tool.folder_options), *again), f"{source}{tool.contents}"  # others are in no case


def keeps_what_it_moves(case: Case) -> bool:
    """Whether what the tool moves lies somewhere afterwards, to be flushed and compared."""
    return case.direction is Direction.WRITE or workloads.tool(case.tool).keeps_read


def server_of_mount(pair: Pair, setup: Setup, case: Case) -> MountServer | None:
    """The server to watch during a transfer; of one over SSH, ssh itself notices that it is gone."""
    if setup.attached.remote_shell:
        return None
    address, port = pair.sides[Role.SERVER].address, protocols.find(case.protocol).port
    return MountServer(address, port, case.protocol)


@contextmanager
def explained(pair: Pair, endpoints: Endpoints, case: Case) -> Iterator[None]:
    """Name a lack of space where a transfer inside fails for it."""
    try:
        yield
    except TransferError as error:
        if lack := _find_lack_of_space(pair, endpoints, case):
            # first: the middle of a long message is cut where people read it
            raise TransferError(f"{lack}; {error.message}", error.remedy, host=endpoints.target_place.role) from error
        raise


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


def _versions(session: AnySession, setup: Setup, tool: Tool) -> dict[str, str]:
    """Which version of the tool works at each end, where that makes a difference; over a mount there is one end.

    Each host is asked once in a run.
    """
    pair, known = session.pair, session.tool_versions
    ends = {Role.CLIENT: "tool_version"}
    if setup.attached.remote_shell:
        ends[Role.SERVER] = "server_tool_version"
    for role in ends:
        if (role, tool.name) not in known:
            call = pair.platforms[role].programs.call(tool.program)
            known[role, tool.name] = tool.version(pair.hosts[role], call)
    return {name: version for role, name in ends.items() if (version := known[role, tool.name])}


def check_arrived(session: AnySession, setup: Setup, case: Case, endpoints: Endpoints, tool_call: ToolCall) -> None:
    """Compare every byte of what arrived, by a command on the client where the tool has one. Raises TransferError."""
    if not keeps_what_it_moves(case):
        return
    place, argv = endpoints.target_place, tool_call.words(tool_call.tool.verification)
    if place.in_mount or argv:
        cool(session, setup, Place(place.role, endpoints.target, in_mount=True), case)
    if argv:
        result = session.pair.hosts[Role.CLIENT].run(*argv, deadline_s=file.deadline_s(case.size_bytes), check=False)
        if result.exit_code != 0:
            why = first_line(result.stderr.strip() or result.stdout)
            raise TransferError(f"{endpoints.target} does not hold what was written: {why}", host=Role.CLIENT)
        return
    if case.is_of_names:
        host, names = session.pair.hosts[place.role], session.payload.names()
        tool_call.tool.check_names(host, names, case.files, tool_call.move, place.path)
        return
    session.payload.check(session.pair.hosts[place.role], place.path, case.size_bytes, endpoints.seed)
