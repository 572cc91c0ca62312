"""Before a transfer: put the payload at its source; before a read, drop the client's caches."""

import posixpath
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from lab.design.factors import Direction
from lab.hosts import Role
from lab.hosts.own_folder import new_name
from lab.platforms.files import READ_ALL
from lab.run.transfer.in_parallel import at_once
from lab.run.transfer.part import Part, Place
from lab.run.transfer.payload import cool, make_at_source, make_by_client, writer_of
from lab.workloads import file

# $1 a folder, $2 bytes. A hypervisor may have reclaimed memory that was free for long. Its first touch costs up to
# 13 µs a page, more than the link; memory freed a moment ago is used first. By dd, because head writes 8 KiB at a
# time, which takes seven times as long.
WARM_MEMORY = (
    'set -C; name=$(cat); cd "$1" && : > "./$name" && '
    '{ dd if=/dev/zero bs=256k count="$2" iflag=count_bytes status=none >> "./$name"; rm -f "./$name"; }'
)
MOST_AT_ONCE = 4  # commands on one host: an sshd allows ten sessions, and others are under way
MOST_WARMED = 2**30  # bytes; the hypervisor may reclaim more than that before it is used
KEEP_NAMES = 'set -C; cat > "$1"'


def prepare(part: Part) -> None:
    """Make everything ready for a transfer by one client."""
    session, case, setup, source = part.session, part.case, part.setup, part.endpoints.source_place
    if case.is_of_names:
        part.client.shell(KEEP_NAMES, part.endpoints.source, given=session.payload.names())
        return
    if session.payload.is_second_copy:
        _prepare_second_copy(part)
        return
    by_client = case.is_laid_by_client
    make = partial(make_by_client, part, part.endpoints.seed) if by_client else partial(make_at_source, part)
    warm = partial(warm_memory, part)
    if case.payload_direction is Direction.WRITE:
        at_once(make, warm)
        return
    if source.in_mount:
        payloads, kind = setup.mount.payloads, (case.workload, case.size_bytes)
        if kind not in payloads:
            make()
            forgets = part.pair.platforms[Role.CLIENT].files.forgets
            if setup.mount.record or not part.client.lacks_root or forgets:  # else each read needs a new file
                payloads[kind] = part.endpoints.seed
        cool(part, source)
        warm()
        return
    if by_client:  # through the mount, which is made anew afterwards
        make()
        is_mounted = session.mount_anew(setup, always=True)
    else:
        is_mounted, _ = at_once(partial(session.mount_anew, setup), make)
    if not is_mounted:
        session.set_up(case)
    session.forget_store(case)
    at_once(partial(_prepare_caches, [part]), warm)


def _prepare_second_copy(part: Part) -> None:
    """Make a first copy at the target, change part of the source, and drop the client's caches."""
    session, case, place = part.session, part.case, part.endpoints.source_place
    make_at_source(part)
    deadline_s = file.deadline_s(session.payload.room(case.size_bytes), case.files)
    part.client.run(*part.words(part.tool.argv), deadline_s=deadline_s)
    session.payload.change(part.pair.hosts[place.role], place.path, case.size_bytes, part.endpoints.seed)
    if part.pair.config.through_mount:
        cool(part, place)
        return
    session.forget_store(case)
    session.mounting.unmount()  # a program that mounts may keep names and times, too
    session.set_up(case)
    if case.payload_direction is Direction.READ:
        _prepare_caches([part])
    elif not part.client.lacks_root:
        part.pair.platforms[Role.CLIENT].files.drop_caches()


def prepare_all(parts: Sequence[Part]) -> None:
    """The same for several clients, one after the other where a host is changed."""
    session, case = parts[0].session, parts[0].case
    with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
        making = [
            threads.submit(make_by_client, parts[writer_of(number, case)], part.endpoints.seed)
            if case.is_laid_by_client
            else threads.submit(make_at_source, part)
            for number, part in enumerate(parts)
        ]
        for payload in making:
            payload.result()
    if case.direction is Direction.READ:
        if parts[0].endpoints.source_place.in_mount:
            for part in parts:
                cool(part, part.endpoints.source_place)
            return
        mounted = [session.mount_anew(part.setup, always=case.is_laid_by_client) for part in parts]
        if not all(mounted):
            session.set_up(case)
        session.forget_store(case)
        _prepare_caches(parts)
    for part in parts:
        warm_memory(part)


def lay_out(part: Part) -> None:
    """Make the file that the tool is to overwrite in the share, if any, and drop the client's cache of it."""
    if argv := part.words(part.tool.lay_out):
        part.client.run(*argv, deadline_s=file.deadline_s(part.case.size_bytes, part.case.files))
        cool(part, Place(Role.CLIENT, part.endpoints.target, in_mount=True))


def warm_memory(part: Part) -> None:
    """Touch the RAM disk's memory before the clock starts; a hypervisor may have reclaimed it."""
    pair, place = part.pair, part.endpoints.target_place
    is_on_ram_disk = place.role is Role.CLIENT or (part.case.store == "ram" and place.role in pair.with_ram_disk)
    if pair.config.lab.instance is None or pair.platforms[place.role].name != "linux" or not is_on_ram_disk:
        return
    size_bytes = min(part.case.size_bytes, MOST_WARMED)
    pair.hosts[place.role].shell(
        WARM_MEMORY, posixpath.dirname(place.path), str(size_bytes),
        given=new_name(), deadline_s=file.deadline_s(size_bytes),
    )  # fmt: skip


def _prepare_caches(parts: Sequence[Part]) -> None:
    """Before a read, empty the caches of the clients; empty the server's, or fill it by reading every payload.

    A RAM disk is always warm. The clients come first, because the hosts of a local lab share one page cache.
    """
    case = parts[0].case
    if case.option("server_cache") == "cold":
        parts[0].pair.platforms[Role.SERVER].files.drop_caches()
    for part in parts:
        if not part.client.lacks_root:  # over SSH nothing is cached, and what is mounted was mounted anew
            part.pair.platforms[Role.CLIENT].files.drop_caches()
    if case.option("server_cache") == "warm" and case.store != "ram":
        deadline_s = file.deadline_s(case.size_bytes, case.files)
        for part in parts:
            server, path = part.pair.hosts[Role.SERVER], part.endpoints.source_place.path
            server.shell(READ_ALL, path, root=True, deadline_s=deadline_s)
