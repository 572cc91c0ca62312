"""The tools that measure the server's store by itself, in a folder of the lab's own on it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from lab import workloads
from lab.base.errors import LabFailure
from lab.design import store_shots
from lab.design.factors import Direction
from lab.design.payload_size import ROOM
from lab.hosts import Role
from lab.platforms import Platform, Timing
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.results.trial import DD, MEMORY, Trial
from lab.run.case.made_store import MadeStore
from lab.run.case.pair import Pair
from lab.run.transfer.store_moved import add_moved, count_moved, describe_warm
from lab.run.transfer.usage import usage
from lab.workloads import Move, bonnie
from lab.workloads.bonnie import parse_report as parse_bonnie
from lab.workloads.file import deadline_s, noise
from lab.workloads.fio import TOOL as FIO
from lab.workloads.fio import parse_report as parse_fio

NULL = "/dev/null"
GIVEN_BACK_S = 20.0  # ZFS frees room with its next group of transactions, 5 s later, or more on a slow host


@dataclass(frozen=True)
class OwnStore:
    """A folder of the lab's own on the store, which nobody else can enter."""

    pair: Pair
    folder: str
    made: MadeStore | None = None  # None for the server's disk
    bonnie_options: bonnie.Options = bonnie.USUAL

    @property
    def server(self) -> Platform:
        """The server's platform."""
        return self.pair.platforms[Role.SERVER]

    def check_room(self, size_bytes: int, tool: str) -> None:
        """Raise LabFailure without room for so many bytes; the tool before may have freed its bytes only now."""
        check_room(self.pair, self.folder, size_bytes, tool, GIVEN_BACK_S if self.made else 0.0)

    def make_noise(self, name: str, size_bytes: int) -> str:
        """Make a file of noise, and flush it; returns its path."""
        path = f"{self.folder}/{name}"
        self.time(noise("make", path, size_bytes, self.folder), deadline_s(size_bytes), flush=path)
        return path

    def forget(self) -> None:
        """Drop the files from the store's own cache, if it has one."""
        if self.made and self.made.forget:
            self.made.forget.run(self.server.host)

    def shoot(self, row: Trial, source: str, target: str, flush: str = "") -> Trial:
        """A trial of dd, with the bytes that the store's devices moved; void if a read did not come from them."""
        before = count_moved(self.pair, self.made)
        timing = self.copy(source, target, row.size_bytes, flush)
        observed = add_moved(Observed(), self.made, before, count_moved(self.pair, self.made))
        trial = self.add_timing(row, timing, observed)
        return replace(trial, status="void", reason=why) if (why := not_from_devices(trial)) else trial

    def copy(self, source: str, target: str, size_bytes: int, flush: str = "") -> Timing:
        """Copy by dd, in blocks of 1 MiB."""
        call, move = self.server.programs.call(DD), Move(source=source, target=target, size_bytes=size_bytes)
        return self.time(workloads.tool(DD).argv(call, "", move), deadline_s(size_bytes), flush=flush)

    def time(self, argv: Sequence[str], within_s: float, flush: str = "") -> Timing:
        """Run a command under the server's own clock, and flush the file ``flush``, if any."""
        return self.server.clock.time_transfer(self.pair.interface(Role.SERVER), flush, argv, within_s)

    def add_timing(self, row: Trial, timing: Timing, more: Observed | None = None) -> Trial:
        """A trial with what was timed and counted, and with a tool's own report."""
        cores = self.pair.facts[Role.SERVER].cores
        counted = usage(timing.readings, timing.elapsed_s, cores) if len(timing.readings) > 1 else None
        observed = replace(more or Observed(), server=counted)
        return replace(row, elapsed_s=timing.elapsed_s, observed=observed, status="ok")


def not_from_devices(shot: Trial) -> str:
    """Why a shot of dd that read does not count; empty if its bytes came from the devices, or these do not count."""
    read_bytes = shot.observed.store_read_bytes
    if (shot.tool, shot.direction) != (DD, "read") or read_bytes is None or read_bytes >= shot.size_bytes:
        return ""
    return describe_warm(shot.store, read_bytes, shot.size_bytes)


Measure: TypeAlias = Callable[[OwnStore, Sequence[Trial]], Iterator[Trial]]


def check_room(pair: Pair, path: str, size_bytes: int, tool: str, within_s: float = 0.0) -> None:
    """Wait for room for a tool's bytes on the file system of ``path``. Raises LabFailure if there is too little.

    A full disk would be slow, and break other programs.
    """
    files, deadline = pair.platforms[Role.SERVER].files, time.monotonic() + within_s
    while (free := files.free_bytes(path)) < size_bytes * ROOM and time.monotonic() < deadline:
        time.sleep(1.0)
    if free < size_bytes * ROOM:
        remedy = "a smaller bonnie_size in the sweep" if tool == bonnie.NAME else "a smaller size in the sweep"
        raise LabFailure(
            f"{tool} needs {round(size_bytes * ROOM)} bytes in {path}, and {free} are free",
            f"make room there, give {remedy}, or take {tool} out of store_tools",
            host=Role.SERVER,
        )


def _measure_dd(store: OwnStore, rows: Sequence[Trial]) -> Iterator[Trial]:
    """Write flushed copies of a file in memory, and read them with cold caches; then do both without a disk.

    A copy that is not flushed stays in memory, and so does one that was just read.
    """

    def of(tool: str, direction: str) -> list[Trial]:
        return [row for row in rows if (row.tool, row.direction) == (tool, direction)]

    size_bytes = rows[0].size_bytes
    store.check_room(store_shots.FILES * size_bytes, DD)
    source = store.make_noise("noise", size_bytes)
    copies = [f"{store.folder}/copy-{number + 1}" for number in range(store_shots.SHOTS)]
    for row, copy in zip(of(DD, "write"), copies, strict=True):
        yield store.shoot(row, source, copy, flush=copy)
    unflushed = f"{store.folder}/unflushed"
    for row in of(MEMORY, "write"):
        yield store.add_timing(row, store.copy(source, unflushed, size_bytes))
        store.server.files.remove(unflushed, root=False)  # before the disk begins to write it
    if reads := of(DD, "read"):
        store.forget()
        store.server.files.drop_caches()
        for row, copy in zip(reads, copies, strict=True):
            yield store.shoot(row, copy, NULL)
    for row in of(MEMORY, "read"):
        yield store.add_timing(row, store.copy(copies[-1], NULL, size_bytes))


def _measure_fio(store: OwnStore, rows: Sequence[Trial]) -> Iterator[Trial]:
    """Request random blocks past the cache, one after another, for a fixed time; first reads, then writes."""
    size_bytes, call = rows[0].size_bytes, store.server.programs.call(FIO.program)
    store.check_room(size_bytes, FIO.name)
    path, version = store.make_noise("blocks", size_bytes), FIO.version(store.server.host, call)
    store.forget()
    for row in rows:
        argv = FIO.argv_for(call, path, size_bytes, Direction(row.direction), store_shots.FIO_S)
        timing = store.time(argv, store_shots.FIO_S + deadline_s(0))
        try:
            requests = parse_fio(timing.printed)
        except ValueError as error:
            raise LabFailure(f"fio: its report cannot be true: {error}", host=Role.SERVER) from error
        moved = sum(way.bytes or 0 for way in (requests.read, requests.write) if way)
        trial = store.add_timing(row, timing, Observed(requests=requests))
        yield replace(trial, size_bytes=moved, effective=Effective(tool_version=version))


def _measure_bonnie(store: OwnStore, rows: Sequence[Trial]) -> Iterator[Trial]:
    """Run all tests of bonnie++, as the account that logged in."""
    facts = store.pair.facts[Role.SERVER]
    for row in rows:
        store.check_room(row.size_bytes, bonnie.NAME)
        call = store.server.programs.call(bonnie.NAME)
        argv = bonnie.argv(call, store.folder, row.size_bytes, facts.is_root, store.bonnie_options)
        timing = store.time(argv, deadline_s(bonnie.PASSES * row.size_bytes, bonnie.PASSES * bonnie.FILES))
        try:
            report = parse_bonnie(timing.printed, bonnie.is_cached(row.size_bytes, facts.memory_bytes))
        except ValueError as error:
            raise LabFailure(f"bonnie++: its report cannot be true: {error}", host=Role.SERVER) from error
        flushed = "fsync" if store.bonnie_options.with_fsync else "none"
        yield replace(store.add_timing(row, timing, Observed(bonnie=report)), effective=Effective(flushed=flushed))


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {DD: _measure_dd, MEMORY: _measure_dd, FIO.name: _measure_fio, bonnie.NAME: _measure_bonnie}
)
