"""From where to where a trial moves its payload, and the files that it leaves there."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from lab.base.errors import HostError
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.run.case.pair import Pair
from lab.run.case.setup import Setup
from lab.run.transfer.side_by_side import at_once
from lab.workloads import file
from lab.workloads.file import payload_name


@dataclass(frozen=True)
class Place:
    """A file on a host; ``in_mount``: the client reaches it through the mount, and nobody reaches it otherwise."""

    role: Role
    path: str
    in_mount: bool = False

    @property
    def name(self) -> str:
        """Its last part."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Endpoints:
    """From where to where: the tool's two paths on the client, and where each end really lies.

    ``flush`` is the path that is flushed after a transfer; empty for none.
    """

    source: str
    target: str
    flush: str
    source_place: Place
    target_place: Place

    @property
    def seed(self) -> str:
        """What makes the payload's content differ from every other: no other has that name."""
        return self.source_place.name


def place_in_mount(setup: Setup, name: str) -> Place:
    """Where a payload of this name lies in the share, as a client of it has that."""
    folder = setup.folder.removeprefix(setup.share.path)
    return Place(Role.CLIENT, f"{setup.attached.path}{folder}/{name}", in_mount=True)


def endpoints_of(pair: Pair, setup: Setup, case: Case, trial_id: str) -> Endpoints:
    """Those of a trial, over what stands for its case."""
    name, in_mount = payload_name(trial_id), pair.config.through_mount and not setup.attached.remote_shell
    # to lay a payload there takes as long as to read it
    if in_mount and case.payload_direction is Direction.READ and case.clients == 1:
        name = setup.mount.payloads.get((case.workload, case.size_bytes), name)
    on_client = f"{pair.sides[Role.CLIENT].directory}/ram/{name}"
    in_share = place_in_mount(setup, name)
    local = Place(Role.CLIENT, on_client)
    shared = in_share if in_mount else Place(Role.SERVER, f"{setup.folder}/{name}")
    flushed = case.option("client_sync") == "fsync"
    if case.payload_direction is Direction.WRITE:
        flush = in_share.path if flushed and not setup.attached.remote_shell else ""
        return Endpoints(on_client, in_share.path, flush, local, shared)
    return Endpoints(in_share.path, on_client, on_client if flushed else "", shared, local)


@dataclass
class PayloadFiles:
    """The payload at both ends, as far as it is not removed yet; those in the share whose names are ``kept`` stay.

    ``files_of_folder`` says how many files are in it where it is a folder, and is None where it is one file.
    """

    pair: Pair
    places: list[Place]
    kept: Mapping[tuple[str, int], str]
    files_of_folder: int | None

    def remove(self, place: Place) -> None:
        """Remove one of them, once; a host out of reach keeps its own until restored."""
        stays = place.in_mount and place.name in self.kept.values()  # where it was copied to has the same name
        if place in self.places and not stays:
            files = self.pair.platforms[place.role].files
            with suppress(HostError):
                if self.files_of_folder is None:
                    files.remove(place.path, root=not place.in_mount)
                else:
                    deadline_s = file.deadline_s(0, self.files_of_folder)
                    files.remove_folder(place.path, deadline_s, root=not place.in_mount)
            self.places.remove(place)


@contextmanager
def payload_files(
    pair: Pair, endpoints: Endpoints, kept: Mapping[tuple[str, int], str], files_of_folder: int | None = None
) -> Iterator[PayloadFiles]:
    """Remove both ends' at the end, or a RAM disk soon is full; but what is ``kept`` for later trials to read again."""
    files = PayloadFiles(pair, [endpoints.source_place, endpoints.target_place], kept, files_of_folder)
    try:
        yield files
    finally:
        at_once(partial(files.remove, endpoints.target_place), partial(files.remove, endpoints.source_place))
