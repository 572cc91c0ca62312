"""Putting back what ended runs left changed: by their journals, or by the hosts' own journals.

Only runs that are open in the register are believed (:mod:`lab.settings.register`). For all others see
:mod:`lab.run.restore.foreign`.
"""

from __future__ import annotations

import os
import secrets as tokens
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from lab.base import durable
from lab.base.errors import BadInput, HostError, LabFailure
from lab.hosts import CommandLog, Host
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.hosts.ssh import reached
from lab.protocols.share_folder import ShareFolder
from lab.results.run_folder import JOURNAL
from lab.run.restore import foreign, watched
from lab.run.restore.vocabulary import line_format
from lab.settings import host_journal, lease
from lab.settings.changes import Settings
from lab.settings.host_journal import NAME as HOST_JOURNAL
from lab.settings.journal import Journal, Record
from lab.settings.register import OpenRun, Register, describe_hosts
from lab.stores.named_device import GONE, NamedDevice

ASK_HOSTS = "`lab restore --hosts FILE` asks the hosts, which have noted it too"
LONGEST_JOURNAL = 2**30  # bytes of a run's own journal: a change has 2 kB, a trial some ten changes


@dataclass(frozen=True)
class PutBack:
    """What was put back: how many ``changes``, how many of them a restart undid, and how many locks had ``lapsed``.

    ``left`` are the folders of runs that stay in a share, because the lab's mount of it had ended.
    """

    changes: int = 0
    restarted: int = 0
    lapsed: int = 0
    left: tuple[str, ...] = ()

    def __add__(self, other: PutBack) -> PutBack:
        changes, restarted = self.changes + other.changes, self.restarted + other.restarted
        return PutBack(changes, restarted, self.lapsed + other.lapsed, self.left + other.left)


class JournalLost(LabFailure):
    """Only its hosts know what an open run left changed: its journal is gone, or no longer what was written."""


def find_open_run(register: Register, path: Path) -> OpenRun | None:
    """The open run in this folder, which may have been moved here; None if the register has none.

    Raises BadInput for a copy of an open run whose folder is still there.
    """
    runs = register.open_runs()[0]
    here = path.resolve()
    if run := next((run for run in runs if Path(run.folder) == here), None):
        return run
    if not any(os.path.lexists(path / name) for name in ("run.json", JOURNAL)):
        raise BadInput(f"{path}: not a run folder: it has no run.json")
    about = foreign.about(path)
    run = next((run for run in runs if run.id == about.get("id")), None) if register.began(about) else None
    if run and (Path(run.folder) / JOURNAL).exists() and not path.samefile(run.folder):  # a Mac ignores case
        raise BadInput(f"{path}: a copy of an open run, which is still there", f"`lab restore {run.folder}`")
    return run


def by_journal(
    register: Register, run: OpenRun, hosts_file: Path | None, path: Path | None = None, given_up: Collection[str] = ()
) -> PutBack:
    """Put back what an open run left changed. Safe to repeat.

    ``path`` is where its folder was moved to. ``given_up`` are devices of the server that will not come back. Raises
    JournalLost, RestoreError for what could not be put back, and BadInput if its hosts file has changed.
    """
    folder = path or Path(run.folder)
    if folder.is_symlink() or not folder.is_dir():
        raise JournalLost(
            "the folder of this run is gone, with the journal of what it left changed",
            "`lab restore RUN` takes the folder from where it was moved to; `lab restore --hosts FILE` asks the hosts",
        )
    with durable.claimed(folder):
        journal = _load(register, run, folder / JOURNAL)
        count = PutBack()
        if journal.open:
            own_file = run.hosts_file, run.hosts_digest
            config = load_hosts(hosts_file) if hosts_file else load_unchanged(register, *own_file)
            with reached(config, CommandLog(folder / "commands.log")) as (hosts, gone):
                _check_whole(journal, hosts)
                count = _put_back(journal, hosts, gone, config, given_up)
        register.leave(run.id)
        return count


def _load(register: Register, run: OpenRun, path: Path) -> Journal:
    """The journal of an open run. Raises JournalLost if it is not what this controller wrote."""
    seals = register.seals(run.id)
    try:
        foreign.read_journal(path, LONGEST_JOURNAL)
        journal = Journal(path, line_format(), seals)
    except BadInput as error:
        raise JournalLost(
            f"what this run left changed cannot be known by its journal ({error.cause()})", ASK_HOSTS
        ) from error
    if seals.count <= run.lines:
        raise JournalLost(f"{path}: its last lines are gone, and with them what this run left changed", ASK_HOSTS)
    return journal


def load_unchanged(register: Register, path: str, digest: str) -> Hosts:
    """The hosts of a run's own file. Raises BadInput if the file has changed since."""
    config = load_hosts(Path(path))
    if register.digest(config) != digest:
        raise BadInput(f"{path}: has changed since the run began", "look if it is right, and name it: --hosts FILE")
    return config


def has_nothing_noted(register: Register, run: OpenRun) -> bool:
    """Whether the hosts of an open run, by its own unchanged hosts file, have noted no change that is left."""
    with suppress(BadInput, HostError):
        with reached(load_unchanged(register, run.hosts_file, run.hosts_digest)) as (hosts, gone):
            contents = [host_journal.read(host, line_format()) for host in hosts.values()]
        return not gone and not any(content.in_use or content.records for content in contents)
    return False


def let_go(register: Register, run: OpenRun, path: Path | None = None) -> None:
    """Close an open run whose hosts were asked, or no longer exist; its journal is put aside."""
    foreign.put_aside(path or Path(run.folder))
    register.leave(run.id)


def by_trust(path: Path, hosts_file: Path, given_up: Collection[str] = ()) -> PutBack:
    """Put back what somebody else's run says that it left changed, on the hosts of a file that the user named.

    Only the journal in the run's folder is read and written. Else like :func:`by_journal`.
    """
    config = load_hosts(hosts_file)
    with durable.claimed(path):
        foreign.look(path)
        journal = Journal(path / JOURNAL, line_format())
        with reached(config) as (hosts, gone):
            return _put_back(journal, hosts, gone, config, given_up)


def is_about(run: OpenRun, hosts_file: Path) -> bool:
    """Whether a hosts file has the hosts of an open run, and perhaps more clients. Raises BadInput."""
    config = load_hosts(hosts_file)
    return run.hosts.items() <= describe_hosts(config).items() and run.instance == config.lab.instance


def belongs_to(run: OpenRun, hosts_file: Path) -> bool:
    """Whether an open run used this hosts file, or the same hosts. Raises BadInput."""
    return Path(run.hosts_file) == hosts_file.resolve() or is_about(run, hosts_file)


def by_hosts(hosts_file: Path, given_up: Collection[str] = ()) -> PutBack:
    """Put back what runs left changed on these hosts, by the hosts' own journals. As :func:`by_journal` otherwise.

    It needs no run folder. Locks of ended runs are removed, too. Raises HostError if a run is using a host, or one
    cannot be reached.
    """
    config = load_hosts(hosts_file)
    count = PutBack()
    with reached(config) as (hosts, gone):
        config = watched.fitted(config, hosts)
        contents = [host_journal.read(hosts[name], line_format()) for name in config.changed if name in hosts]
        for content in contents:
            if content.in_use:
                raise content.in_use
        records = sorted((record for content in contents for record in content.records), key=attrgetter("number"))
        for run in sorted({record.run for record in records}):
            journal = Journal(None, line_format())
            for record in records:
                if record.run == run:
                    journal.intend(record)
            # one host's journal must not reach the other host
            touched = {role: hosts[role] for role in {record.host for record in journal.open}}
            count += _put_back(journal, touched, gone, config, given_up)
        _release(hosts, config)
        if gone:
            raise HostError("\n".join(gone.values()), several=True)
    return count


def _release(hosts: Mapping[str, Host], config: Hosts) -> None:
    """Take the lock of each host, and release it; this removes the lock and the folder of an ended run."""
    settings = Settings(hosts, Journal(None, line_format()), lease.for_run(hosts, config, tokens.token_hex(4)))
    try:
        for role in hosts:
            settings.claim(role)
    finally:
        settings.unwind()


def _put_back(
    journal: Journal, hosts: Mapping[str, Host], gone: dict[str, str], config: Hosts, given_up: Collection[str]
) -> PutBack:
    """Unwind a journal, under the lock of the run that wrote it."""
    count = sum(record.name != HOST_JOURNAL for record in journal.open)
    left = tuple(_left_in_shares(journal, hosts))
    run = next((record.run for record in journal.open), "")
    touched = {role: hosts[role] for role in {record.host for record in journal.open} & hosts.keys()}
    host_journals = lease.for_run(touched, config, run) if run else {}
    for role in host_journals:
        host_journals[role].know(record for record in journal.open if record.host == role)
    settings = Settings(hosts, journal, host_journals, gone=gone)
    settings.restorer.is_given_up = lambda record: _is_given_up(record, hosts, given_up)
    with lease.keep_alive(host_journals):
        for role in hosts:
            try:
                settings.claim(role)
            except HostError as error:
                settings.connections.gone[role] = error.on_one_line()
        settings.unwind()
    lapsed = sum(host_journal.lapsed for host_journal in host_journals.values())
    return PutBack(count, settings.restorer.restarted.total(), lapsed, left)


def _is_given_up(record: Record, hosts: Mapping[str, Host], given_up: Collection[str]) -> bool:
    """Whether a record is about a device that the user has given up, and that is gone indeed."""
    device = record.operation
    return (
        isinstance(device, NamedDevice) and device.device in given_up and device.read().run(hosts[record.host]) == GONE
    )


def _left_in_shares(journal: Journal, hosts: Mapping[str, Host]) -> Iterator[str]:
    """The names of folders that stay in a share, because the lab's mount of it has ended."""
    for record in journal.open:
        if isinstance(record.operation, ShareFolder) and record.host in hosts:
            with suppress(HostError):  # a lost host is reported elsewhere
                if record.operation.is_out_of_reach(hosts[record.host]):
                    yield record.operation.path.rpartition("/")[2]


def _check_whole(journal: Journal, hosts: Mapping[str, Host]) -> None:
    """Raise JournalLost if a host has noted more of a run than its journal has: the last lines are missing."""
    numbers = {(record.host, record.run, record.number) for record in journal.open}
    runs = {run for _, run, _ in numbers if run}
    for role, host in hosts.items() if runs else ():
        try:
            records = host_journal.read(host, line_format()).records
        except HostError:
            with suppress(HostError):
                host.reconnect()
            continue  # putting back reports what is wrong
        beyond = [
            record.name for record in records if record.run in runs and (role, record.run, record.number) not in numbers
        ]
        if beyond:
            message = f"{role}: has noted changes that the journal lacks: {', '.join(beyond):.300}"
            raise JournalLost(message, ASK_HOSTS)
