"""Putting back what ended runs left changed: by their journals, or by what the hosts themselves have noted.

Only runs that the register has open are believed (:mod:`lab.settings.register`). For all others see
:mod:`lab.run.restore.foreign`.
"""

from __future__ import annotations

import os
import secrets as tokens
import stat
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
from lab.run.restore import foreign
from lab.run.restore.vocabulary import line_format
from lab.settings import host_journal, lease
from lab.settings.changes import Settings
from lab.settings.host_journal import NAME as HOST_JOURNAL
from lab.settings.journal import Journal, Record
from lab.settings.register import OpenRun, Register, describe_hosts
from lab.stores.named_device import GONE, NamedDevice

ASK_HOSTS = "`lab restore --hosts FILE` asks the hosts, which have noted it too"
LONGEST_JOURNAL = 2**30  # of a run of our own: a change has 2 kB, a trial some ten changes


@dataclass(frozen=True)
class PutBack:
    """What was put back: how many ``changes``, and how many of them a restart undid; hosts whose lock had ``lapsed``.

    ``left`` are the folders of runs that may be in a share still: the lab's own mount of it had ended.
    """

    changes: int = 0
    restarted: int = 0
    lapsed: int = 0
    left: tuple[str, ...] = ()

    def __add__(self, other: PutBack) -> PutBack:
        changes, restarted = self.changes + other.changes, self.restarted + other.restarted
        return PutBack(changes, restarted, self.lapsed + other.lapsed, self.left + other.left)


class JournalLost(LabFailure):
    """What an open run left changed is known to its hosts only: its journal is gone, or no longer what was written."""


def named(register: Register, path: Path) -> OpenRun | None:
    """The open run in this folder, which may have been moved here; None where the register has none of it open.

    Raises BadInput for the copy of an open run whose folder is still there.
    """
    runs = register.open_runs()[0]
    here = path.resolve()
    if run := next((run for run in runs if Path(run.folder) == here), None):
        return run
    if not any(os.path.lexists(path / name) for name in ("run.json", JOURNAL)):
        raise BadInput(f"{path}: not a run folder: it has no run.json")
    about = foreign.about(path)
    run = next((run for run in runs if run.id == about.get("id")), None) if register.began(about) else None
    if run and (Path(run.folder) / JOURNAL).exists() and not path.samefile(run.folder):  # a name may be in capitals
        raise BadInput(f"{path}: a copy of an open run, which is still there", f"`lab restore {run.folder}`")
    return run


def by_journal(
    register: Register,
    run: OpenRun,
    hosts_file: Path | None,
    path: Path | None = None,
    given_up: Collection[str] = (),
) -> PutBack:
    """Put back what an open run left changed; returns what that was.

    ``path`` is where its folder was moved to. ``given_up`` are devices of the server that will not come back. Safe to
    repeat. Raises JournalLost, RestoreError for what could not be put back, with the commands to type by hand, and
    BadInput where its hosts file is not as it was.
    """
    folder = path or Path(run.folder)
    _check_folder(folder)
    with durable.claimed(folder):
        journal = _load(register, run, folder / JOURNAL)
        count: PutBack = PutBack()
        if journal.open:
            config = _config(register, run, hosts_file)
            with reached(config, CommandLog(folder / "commands.log")) as (hosts, gone):
                _check_whole(journal, hosts)
                count = _put_back(journal, hosts, gone, config, given_up)
        register.leave(run.id)
        return count


def _check_folder(folder: Path) -> None:
    """Raise JournalLost where an open run's folder is not where it was."""
    try:
        is_there = stat.S_ISDIR(folder.lstat().st_mode)
    except OSError:
        is_there = False
    if not is_there:
        raise JournalLost(
            "the folder of this run is gone, with the journal of what it left changed",
            "`lab restore RUN` takes the folder from where it was moved to; `lab restore --hosts FILE` asks the hosts",
        )


def _load(register: Register, run: OpenRun, path: Path) -> Journal:
    """The journal of an open run. Raises JournalLost where it is not what this controller wrote."""
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


def _config(register: Register, run: OpenRun, hosts_file: Path | None) -> Hosts:
    """The hosts file that was named, or that of the run, where it is as it was then. Raises BadInput."""
    if hosts_file:
        return load_hosts(hosts_file)
    config = load_hosts(Path(run.hosts_file))
    if register.digest(config) != run.hosts_digest:
        raise BadInput(
            f"{run.hosts_file}: has changed since the run began", "look if it is right, and name it: --hosts FILE"
        )
    return config


def let_go(register: Register, run: OpenRun, path: Path | None = None) -> None:
    """Let go of an open run whose hosts were asked themselves, or no longer exist: its journal is put aside."""
    foreign.put_aside(path or Path(run.folder))
    register.leave(run.id)


def by_trust(path: Path, hosts_file: Path, given_up: Collection[str] = ()) -> PutBack:
    """Put back what somebody else's run says it left changed, on the hosts of a file that the user named.

    Nothing else of the folder is read, and nothing but its journal written. As :func:`by_journal` otherwise.
    """
    config = load_hosts(hosts_file)
    with durable.claimed(path):
        foreign.look(path)
        journal = Journal(path / JOURNAL, line_format())
        with reached(config) as (hosts, gone):
            return _put_back(journal, hosts, gone, config, given_up)


def is_about(run: OpenRun, hosts_file: Path) -> bool:
    """Whether a hosts file is about the hosts of an open run, which may be some of its clients. Raises BadInput."""
    config = load_hosts(hosts_file)
    return run.hosts.items() <= describe_hosts(config).items() and run.instance == config.lab.instance


def belongs_to(run: OpenRun, hosts_file: Path) -> bool:
    """Whether an open run is one of this hosts file's: of the same file, or about the same hosts. Raises BadInput."""
    return Path(run.hosts_file) == hosts_file.resolve() or is_about(run, hosts_file)


def by_hosts(hosts_file: Path, given_up: Collection[str] = ()) -> PutBack:
    """Put back what runs left changed on these hosts by what the hosts themselves have noted; as :func:`by_journal`.

    For a controller that has lost the run's folder. A lock that an ended run left goes too. Raises HostError where a
    run is using a host, or one cannot be reached.
    """
    config = load_hosts(hosts_file)
    count: PutBack = PutBack()
    with reached(config) as (hosts, gone):
        contents = [host_journal.read(host, line_format()) for host in hosts.values()]
        for content in contents:
            if content.in_use:
                raise content.in_use
        records = sorted((record for content in contents for record in content.records), key=attrgetter("number"))
        for run in sorted({record.run for record in records}):
            journal = Journal(None, line_format())
            for record in records:
                if record.run == run:
                    journal.intend(record)
            # what one host says must not reach the other
            touched = {role: hosts[role] for role in {record.host for record in journal.open}}
            count += _put_back(journal, touched, gone, config, given_up)
        _release(hosts, config)
        if gone:
            raise HostError("\n".join(gone.values()), several=True)
    return count


def _release(hosts: Mapping[str, Host], config: Hosts) -> None:
    """Take the lock of each host and give it up: one of an ended run goes with that, and with it the folder."""
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
    host_journals = lease.for_run(hosts, config, run) if run else {}
    for role, own in host_journals.items():
        own.know(record for record in journal.open if record.host == role)
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
    """Whether it is of a device that the user has given up, and that is gone indeed."""
    device = record.operation
    return (
        isinstance(device, NamedDevice) and device.device in given_up and device.read().run(hosts[record.host]) == GONE
    )


def _left_in_shares(journal: Journal, hosts: Mapping[str, Host]) -> Iterator[str]:
    """The names of folders that stay in a share because the lab's mount of it has ended."""
    for record in journal.open:
        if isinstance(record.operation, ShareFolder) and record.host in hosts:
            with suppress(HostError):  # of a host that is gone nothing is put back, and that is said
                if record.operation.is_out_of_reach(hosts[record.host]):
                    yield record.operation.path.rpartition("/")[2]


def _check_whole(journal: Journal, hosts: Mapping[str, Host]) -> None:
    """Raise JournalLost where a host has noted more of a run than its journal holds: the last lines are missing."""
    numbers = {(record.host, record.run, record.number) for record in journal.open}
    runs = {run for _, run, _ in numbers if run}
    for role, host in hosts.items() if runs else ():
        try:
            records = host_journal.read(host, line_format()).records
        except HostError:
            with suppress(HostError):
                host.reconnect()
            continue  # putting back says what is wrong with it
        beyond = [one.name for one in records if one.run in runs and (role, one.run, one.number) not in numbers]
        if beyond:
            message = f"{role}: has noted changes that the journal lacks: {', '.join(beyond):.300}"
            raise JournalLost(message, ASK_HOSTS)
