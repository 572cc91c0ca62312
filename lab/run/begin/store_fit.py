"""Whether the tools that a sweep wants to measure the server's store with are there, and have room."""

from lab.base.errors import LabFailure, Unsupported
from lab.design.payload_size import ROOM
from lab.design.sweep_file import Sweep
from lab.hosts import Role
from lab.results.trial import DISK
from lab.run.begin.capability import check_programs
from lab.run.case import made_store
from lab.run.case.pair import Pair, at_home
from lab.run.ceilings.store_tools import check_room
from lab.workloads import bonnie
from lab.workloads.fio import TOOL as FIO

PROGRAMS = {FIO.name: FIO.programs, bonnie.NAME: bonnie.PROGRAMS}
CHECKS = {FIO.name: FIO.check, bonnie.NAME: bonnie.check}


def check_hosts(pair: Pair, sweep: Sweep) -> None:
    """Raise Unsupported for a program that the server lacks, for another version, and for bonnie++ without room."""
    if not any(map(made_store.is_measured, sweep.factors.names("store"))) or pair.config.through_mount:
        return
    server, facts = pair.platforms[Role.SERVER], pair.facts[Role.SERVER]
    for name in sweep.store_tools:
        if name in PROGRAMS:
            check_programs(pair, Role.SERVER, PROGRAMS[name], "store_tools")
            CHECKS[name](pair.hosts[Role.SERVER], server.programs.call(name))
    if bonnie.NAME in sweep.store_tools:
        path = at_home(pair.config.share.path or "", facts.home)
        size_bytes = bonnie.file_bytes(sweep.bonnie_size, facts.memory_bytes)
        _check_made(pair, sweep, size_bytes)
        if DISK not in sweep.factors.of("store"):
            return
        try:
            check_room(pair, path, size_bytes, bonnie.NAME)
        except LabFailure as error:
            raise Unsupported(error.message, error.remedy, host=error.host) from error


def _check_made(pair: Pair, sweep: Sweep, size_bytes: int) -> None:
    """Raise Unsupported where a file system that the lab makes has no room for the file of bonnie++."""
    image_bytes = pair.config.share.image_size
    room_bytes = made_store.least_room(sweep, image_bytes)
    if room_bytes is None or room_bytes >= size_bytes * ROOM:
        return
    raise Unsupported(
        f"bonnie++ needs {round(size_bytes * ROOM)} bytes, and the smallest store that the lab makes has room for "
        f"{room_bytes}",
        "a smaller bonnie_size in the sweep, or a larger image_size in [share] of the hosts file",
        host=Role.SERVER,
    )
