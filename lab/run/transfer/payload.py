"""Making the payload of a trial: where it comes from, or by a client through the share (the factor ``read_from``)."""

from dataclasses import replace

from lab.base.errors import TransferError
from lab.design.case import Case
from lab.design.factors import OTHER, OWN, Direction
from lab.hosts import Role
from lab.run.case.client_session import AnySession
from lab.run.case.pair import Pair
from lab.run.case.setup import Setup
from lab.run.transfer.places import Endpoints, Place, place_in_mount
from lab.run.transfer.proof import not_on_the_wire
from lab.workloads import file

# $1 a folder, $2 the mode of its files, $3 of its folders
SET_MODES = 'find "$1" -type f -exec chmod "$2" {} + && find "$1" -type d -exec chmod "$3" {} +'


def writer_of(number: int, case: Case) -> int:
    """Which client, from 0, writes what client ``number`` reads: itself, or the next one, and the first for the last.

    The same as IOR's reordering of tasks by one (``-C``) and the stride of mdtest (``-N``).
    """
    return (number + 1) % case.clients if case.option("read_from") == OTHER else number


def describe_writer(case: Case, endpoints: Endpoints) -> dict[str, str]:
    """Who had written what a trial read, by the name of its field; empty where it read nothing that lay there."""
    if case.direction is not Direction.READ or case.is_of_names:
        return {}
    if case.is_laid_by_client:
        return {"written_by": case.option("read_from")}
    return {"written_by": OWN if endpoints.source_place.in_mount else "server"}


def make_at_source(session: AnySession, setup: Setup, case: Case, endpoints: Endpoints) -> None:
    """Make the payload where it comes from: by the host that has it, and in a mount by the client that reads it."""
    pair, place = session.pair, endpoints.source_place
    if place.in_mount:
        _make_in_mount(session, case, place)
        return
    session.payload.make(pair.hosts[place.role], place.path, case.size_bytes, endpoints.seed)
    _set_mode(pair, setup, endpoints, session.payload.is_folder)


def make_by_client(session: AnySession, setup: Setup, case: Case, name: str) -> None:
    """Let a client write a payload of this name into the share and flush it, with the proof that it crossed the wire.

    Raises TransferError where that is not proven.
    """
    pair, place = session.pair, place_in_mount(setup, name)
    host, clock, interface = pair.hosts[Role.CLIENT], pair.platforms[Role.CLIENT].clock, pair.interface(Role.CLIENT)
    before = clock.counters(interface)
    _make_in_mount(session, case, place)
    # runs nothing, and flushes
    clock.time_transfer(interface, place.path, ("true",), file.deadline_s(case.size_bytes, case.files))
    moved, writing = clock.counters(interface).since(before), replace(case, direction=Direction.WRITE)
    if why := not_on_the_wire(pair, setup.served.drivers[Role.CLIENT], setup.attached.path, writing, moved):
        raise TransferError(f"what is to be read was not written through the share: {why}", host=host.name)


def _make_in_mount(session: AnySession, case: Case, place: Place) -> None:
    """Make it in the share: a file is made on the client and copied there, past the cache where that can be."""
    pair, payload = session.pair, session.payload
    host, files = pair.hosts[Role.CLIENT], pair.platforms[Role.CLIENT].files
    if payload.is_folder:
        payload.make(host, place.path, case.size_bytes, place.name)
        return
    local = f"{pair.sides[Role.CLIENT].directory}/ram/{place.name}"
    try:
        payload.make(host, local, case.size_bytes, place.name)
        files.copy_uncached(local, place.path, file.deadline_s(case.size_bytes))
    finally:
        files.remove(local, root=False)


def _set_mode(pair: Pair, setup: Setup, endpoints: Endpoints, is_folder: bool) -> None:
    """Give what is written the mode that the mount gives, or rsync fails over one that it cannot give.

    So it is of folders in every version, and of files from 3.5 on.
    """
    place, mode = endpoints.source_place, setup.attached.file_mode
    if not mode or place.role is not Role.CLIENT:
        return
    if is_folder:  # whoever may read one may enter it
        pair.hosts[Role.CLIENT].shell(SET_MODES, place.path, mode, f"{int(mode, 8) | int(mode, 8) >> 2 & 0o111:o}")
    else:
        pair.hosts[Role.CLIENT].run("chmod", mode, place.path)
