"""Before a transfer: the payload lies where it comes from, and the client is cold where it reads."""

import posixpath
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeAlias

from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.hosts.own_folder import new_name
from lab.platforms.files import READ_ALL
from lab.run.case.client_session import AnySession, ClientSession
from lab.run.case.pair import Pair
from lab.run.case.session import Session
from lab.run.case.setup import Setup
from lab.run.transfer.payload import make_at_source, make_by_client, writer_of
from lab.run.transfer.places import Endpoints, Place
from lab.run.transfer.side_by_side import at_once
from lab.workloads import file

# $1 a folder, $2 bytes. What a virtual machine has long had free its hypervisor may have taken back, and the first
# touch of it costs up to 13 µs a page: more than the link. What was freed a moment ago is used first. By dd, for head
# writes 8 KiB at a time, which takes seven times as long.
WARM_MEMORY = (
    'set -C; name=$(cat); cd "$1" && : > "./$name" && '
    '{ dd if=/dev/zero bs=256k count="$2" iflag=count_bytes status=none >> "./$name"; rm -f "./$name"; }'
)
MOST_AT_ONCE = 4  # commands on one host: an sshd allows ten sessions, and others are under way
MOST_WARMED = 2**30  # bytes; what is freed beyond that may be taken back before it is used
ClientSetup: TypeAlias = tuple[ClientSession, Setup, Endpoints]  # a client, and what it is to do
KEEP_NAMES = 'set -C; cat > "$1"'


def prepare(session: Session, setup: Setup, case: Case, endpoints: Endpoints, argv: Sequence[str]) -> None:
    """Put the payload at its source; before a read, drop the client's caches.

    Before a second copy the tool's command ``argv`` makes the first one.
    """
    if case.is_of_names:
        session.pair.hosts[Role.CLIENT].shell(KEEP_NAMES, endpoints.source, given=session.payload.names())
        return
    if session.payload.is_second_copy:
        _prepare_second_copy(session, setup, case, endpoints, argv)
        return
    if case.is_laid_by_client:
        make = partial(make_by_client, session, setup, case, endpoints.seed)
    else:
        make = partial(make_at_source, session, setup, case, endpoints)
    warm = partial(warm_memory, session.pair, case, endpoints)
    if case.payload_direction is Direction.WRITE:
        at_once(make, warm)
        return
    if endpoints.source_place.in_mount:
        payloads, kind = setup.mount.payloads, (case.workload, case.size_bytes)
        if kind not in payloads:
            make()
            if _can_cool(session.pair, setup):
                payloads[kind] = endpoints.seed
        cool(session, setup, endpoints.source_place, case)
        warm()
        return
    if case.is_laid_by_client:  # by the mount that is made anew then
        make()
        stands = session.mount_anew(setup, always=True)
    else:
        stands, _ = at_once(partial(session.mount_anew, setup), make)
    if not stands:
        session.set_up(case)
    session.forget_store(case)
    at_once(partial(_prepare_caches, [(session.pair, endpoints)], case), warm)


def _prepare_second_copy(session: Session, setup: Setup, case: Case, endpoints: Endpoints, argv: Sequence[str]) -> None:
    """Make a first copy at the target, change part of the source, and drop the client's caches."""
    pair, payload, place = session.pair, session.payload, endpoints.source_place
    make_at_source(session, setup, case, endpoints)
    pair.hosts[Role.CLIENT].run(*argv, deadline_s=file.deadline_s(payload.room(case.size_bytes), case.files))
    payload.change(pair.hosts[place.role], place.path, case.size_bytes, endpoints.seed)
    if pair.config.through_mount:
        cool(session, setup, place, case)
        return
    session.forget_store(case)
    session.mount_from_nothing(case)
    if case.payload_direction is Direction.READ:
        _prepare_caches([(pair, endpoints)], case)
    elif not pair.hosts[Role.CLIENT].lacks_root:
        pair.platforms[Role.CLIENT].files.drop_caches()


def prepare_all(sessions: Sequence[ClientSetup], case: Case) -> None:
    """The same for several clients, each with its own payload. What changes a host is done by one after the other."""
    of_all, is_read = sessions[0][0].session, case.direction is Direction.READ
    _make_all(sessions, case)
    if is_read and sessions[0][2].source_place.in_mount:
        for session, setup, endpoints in sessions:
            cool(session, setup, endpoints.source_place, case)
        return
    if is_read:
        mounted = [session.mount_anew(setup, always=case.is_laid_by_client) for session, setup, _ in sessions]
        if not all(mounted):
            of_all.set_up(case)
        of_all.forget_store(case)
        _prepare_caches([(session.pair, endpoints) for session, _, endpoints in sessions], case)
    for session, _, endpoints in sessions:
        warm_memory(session.pair, case, endpoints)


def _make_all(sessions: Sequence[ClientSetup], case: Case) -> None:
    """Make the payloads of all clients, each by who is to write it."""
    with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
        made = []
        for number, (session, setup, endpoints) in enumerate(sessions):
            if case.is_laid_by_client:
                writer, its_setup, _ = sessions[writer_of(number, case)]
                made.append(threads.submit(make_by_client, writer, its_setup, case, endpoints.seed))
            else:
                made.append(threads.submit(make_at_source, session, setup, case, endpoints))
        for each in made:
            each.result()


def _can_cool(pair: Pair, setup: Setup) -> bool:
    """Whether the client can be made to forget a file that it has read; else each read needs another one."""
    host, files = pair.hosts[Role.CLIENT], pair.platforms[Role.CLIENT].files
    return setup.mount.record is not None or not host.lacks_root or files.forgets


def cool(session: AnySession, setup: Setup, place: Place, case: Case) -> None:
    """Drop the client's cache of a file in the share, so that a read comes from the server.

    A mount of the lab's own is made anew. What else is cached only root may drop; an account can have single files
    forgotten, where the system lets it. What crosses the wire afterwards is the proof.
    """
    pair = session.pair
    if setup.mount.record and not session.mount_anew(setup, always=True):
        session.set_up(case)
    if pair.hosts[Role.CLIENT].lacks_root:
        pair.platforms[Role.CLIENT].files.forget(place.path, file.deadline_s(case.size_bytes, case.files))
    else:
        pair.platforms[Role.CLIENT].files.drop_caches()


def lay_out(session: AnySession, setup: Setup, case: Case, argv: Sequence[str], target: str) -> None:
    """Lay a file to be overwritten at ``target`` in the share, and drop the client's cache of it. Without a command
    that makes it, do nothing.
    """
    if argv:
        session.pair.hosts[Role.CLIENT].run(*argv, deadline_s=file.deadline_s(case.size_bytes, case.files))
        cool(session, setup, Place(Role.CLIENT, target, in_mount=True), case)


def warm_memory(pair: Pair, case: Case, endpoints: Endpoints) -> None:
    """Touch the RAM disk's memory before the clock starts; a hypervisor may have reclaimed it."""
    role = endpoints.target_place.role
    is_on_ram_disk = role is Role.CLIENT or (case.store == "ram" and role in pair.with_ram_disk)
    if pair.config.lab.instance is None or pair.platforms[role].name != "linux" or not is_on_ram_disk:
        return
    size_bytes = min(case.size_bytes, MOST_WARMED)
    pair.hosts[role].shell(
        WARM_MEMORY, posixpath.dirname(endpoints.target_place.path), str(size_bytes),
        given=new_name(), deadline_s=file.deadline_s(size_bytes),
    )  # fmt: skip


def _prepare_caches(reads: Sequence[tuple[Pair, Endpoints]], case: Case) -> None:
    """Before a read: nothing of it in the memory of the clients, and all or nothing of it in the server's.

    Warm means that the server has just read all of it; a RAM disk is always so. The clients are made cold first: the
    hosts of a local lab share one page cache.
    """
    if case.option("server_cache") == "cold":
        reads[0][0].platforms[Role.SERVER].files.drop_caches()
    for pair, _ in reads:
        if not pair.hosts[Role.CLIENT].lacks_root:  # over SSH nothing is cached, and what is mounted was mounted anew
            pair.platforms[Role.CLIENT].files.drop_caches()
    if case.option("server_cache") == "warm" and case.store != "ram":
        deadline_s = file.deadline_s(case.size_bytes, case.files)
        for pair, endpoints in reads:
            pair.hosts[Role.SERVER].shell(READ_ALL, endpoints.source_place.path, root=True, deadline_s=deadline_s)
