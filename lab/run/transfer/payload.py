"""Making the payload of a trial, comparing what arrived, and removing both (the factor ``read_from``: who makes it)."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial

from lab.base.errors import HostError, TransferError
from lab.base.untrusted import first_line
from lab.design.case import Case
from lab.design.factors import OTHER, OWN, Direction
from lab.hosts import Role
from lab.run.transfer.in_parallel import at_once
from lab.run.transfer.part import Part, Place, keeps_what_it_moves, place_in_mount
from lab.run.transfer.proof import not_on_the_wire
from lab.workloads import file

# $1 a folder, $2 the mode of its files, $3 of its folders
SET_MODES = 'find "$1" -type f -exec chmod "$2" {} + && find "$1" -type d -exec chmod "$3" {} +'


def writer_of(number: int, case: Case) -> int:
    """Which client, from 0, writes what client ``number`` reads: itself or the next one; the first for the last.

    The same as IOR's reordering of tasks by one (``-C``) and the stride of mdtest (``-N``).
    """
    return (number + 1) % case.clients if case.option("read_from") == OTHER else number


def describe_writer(part: Part) -> dict[str, str]:
    """Who wrote what a trial read, by the name of its field; empty for a write."""
    case = part.case
    if case.direction is not Direction.READ or case.is_of_names:
        return {}
    if case.is_laid_by_client:
        return {"written_by": case.option("read_from")}
    return {"written_by": OWN if part.endpoints.source_place.in_mount else "server"}


def make_at_source(part: Part) -> None:
    """Make the payload at its source: on the host that has it, or in a mount by the client that reads it."""
    place, payload = part.endpoints.source_place, part.session.payload
    if place.in_mount:
        _make_in_mount(part, place)
        return
    payload.make(part.pair.hosts[place.role], place.path, part.case.size_bytes, part.endpoints.seed)
    mode = part.setup.attached.file_mode
    if not mode or place.role is not Role.CLIENT:
        return
    # rsync fails if the mount cannot give the source's mode: for folders in every version, for files from 3.5 on
    if payload.is_folder:
        folder_mode = int(mode, 8) | int(mode, 8) >> 2 & 0o111  # whoever may read a folder may enter it
        part.client.shell(SET_MODES, place.path, mode, f"{folder_mode:o}")
    else:
        part.client.run("chmod", mode, place.path)


def make_by_client(part: Part, name: str) -> None:
    """Let this client write a payload of this name into the share, and flush it.

    Raises TransferError if the payload is not proven to have crossed the wire.
    """
    pair, case, place = part.pair, part.case, place_in_mount(part.setup, name)
    clock, interface = pair.platforms[Role.CLIENT].clock, pair.interface(Role.CLIENT)
    before = clock.counters(interface)
    _make_in_mount(part, place)
    # runs nothing, and flushes
    clock.time_transfer(interface, place.path, ("true",), file.deadline_s(case.size_bytes, case.files))
    counted = clock.counters(interface).since(before)
    if why := not_on_the_wire(part, replace(case, direction=Direction.WRITE), counted):
        raise TransferError(f"what is to be read was not written through the share: {why}", host=part.client.name)


def _make_in_mount(part: Part, place: Place) -> None:
    """Make the payload in the share. A file is made on the client, and copied past the cache where possible."""
    payload, size_bytes, files = part.session.payload, part.case.size_bytes, part.pair.platforms[Role.CLIENT].files
    if payload.is_folder:
        payload.make(part.client, place.path, size_bytes, place.name)
        return
    local = f"{part.pair.sides[Role.CLIENT].directory}/ram/{place.name}"
    try:
        payload.make(part.client, local, size_bytes, place.name)
        files.copy_uncached(local, place.path, file.deadline_s(size_bytes))
    finally:
        files.remove(local, root=False)


def cool(part: Part, place: Place) -> None:
    """Drop the client's cache of a file in the share, so that a read comes from the server.

    A mount of the lab's own is made anew. Only root may drop other caches; an account can make some systems forget
    single files. The bytes on the wire are the proof.
    """
    case, files = part.case, part.pair.platforms[Role.CLIENT].files
    if part.setup.mount.record and not part.session.mount_anew(part.setup, always=True):
        part.session.set_up(case)
    if part.client.lacks_root:
        files.forget(place.path, file.deadline_s(case.size_bytes, case.files))
    else:
        files.drop_caches()


def check_arrived(part: Part) -> None:
    """Compare every byte that arrived, by the tool's own command if it has one. Raises TransferError."""
    case, target, place = part.case, part.endpoints.target, part.endpoints.target_place
    if not keeps_what_it_moves(case):
        return
    argv = part.words(part.tool.verification)
    if place.in_mount or argv:
        cool(part, Place(place.role, target, in_mount=True))
    if argv:
        result = part.client.run(*argv, deadline_s=file.deadline_s(case.size_bytes), check=False)
        if result.exit_code != 0:
            why = first_line(result.stderr.strip() or result.stdout)
            raise TransferError(f"{target} does not hold what was written: {why}", host=Role.CLIENT)
        return
    payload, host = part.session.payload, part.pair.hosts[place.role]
    if case.is_of_names:
        part.tool.check_names(host, payload.names(), case.files, part.move, place.path)
    else:
        payload.check(host, place.path, case.size_bytes, part.endpoints.seed)


@dataclass
class PayloadFiles:
    """The payload of a part at both ends: the places that are not removed yet."""

    part: Part
    places: list[Place]

    def remove(self, place: Place) -> None:
        """Remove the payload at this place, once; on a host out of reach it stays until `lab restore`."""
        case, kept = self.part.case, self.part.setup.mount.payloads.values()
        stays = place.in_mount and place.name in kept  # for later trials; its copy on the client has the same name
        if place in self.places and not stays:
            files = self.part.pair.platforms[place.role].files
            with suppress(HostError):
                if self.part.session.payload.is_folder:
                    files.remove_folder(place.path, file.deadline_s(0, case.files), root=not place.in_mount)
                else:
                    files.remove(place.path, root=not place.in_mount)
            self.places.remove(place)


@contextmanager
def payload_files(part: Part) -> Iterator[PayloadFiles]:
    """Remove the payload at both ends afterwards, because a RAM disk is soon full."""
    source, target = part.endpoints.source_place, part.endpoints.target_place
    files = PayloadFiles(part, [source, target])
    try:
        yield files
    finally:
        at_once(partial(files.remove, target), partial(files.remove, source))
