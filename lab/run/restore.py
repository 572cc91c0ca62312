"""Putting back what ended runs left changed: by their journals, or by what the hosts themselves have noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path

from lab.base import durable
from lab.base.errors import BadInput, HostError
from lab.hosts import CommandLog, Host, reached
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.results.run_folder import JOURNAL, RunFolder
from lab.settings import host_journal
from lab.settings.changes import Settings
from lab.settings.host_journal import NAME as HOST_JOURNAL
from lab.settings.journal import Journal


def open_journals(results: Path, hosts_file: Path | None) -> tuple[list[RunFolder], list[str]]:
    """The runs whose journals hold something to put back, oldest first; and what is wrong with unreadable ones.

    Raises BadInput where ``results`` is no folder that can be read and the hosts are not asked either (``hosts_file``):
    that nothing is seen there proves nothing.
    """
    if hosts_file and not results.exists():
        return [], []
    try:
        paths = sorted(results.iterdir())
    except OSError as error:
        raise BadInput(
            f"{results.absolute()}: holds no runs: {error.strerror}",
            "`lab restore` must run where the runs were started, or ask the hosts themselves: --hosts FILE",
        ) from error
    folders, problems = [], []
    for path in paths:
        try:
            if path.is_dir() and _is_open(path):
                folders.append(RunFolder(path))
        except (BadInput, OSError) as error:
            problems.append(str(error))
    return folders, problems


def _is_open(path: Path) -> bool:
    """Whether a run left anything to put back. Raises BadInput for one that is still running."""
    with durable.claimed(path):
        return bool(Journal(path / JOURNAL).open)


def by_journal(folder: RunFolder, hosts_file: Path | None) -> Counter[str]:
    """Put back what a run left changed; returns how many changes that were, and how many of them a restart undid.

    Safe to repeat. Raises RestoreError for what could not be, with the commands to type by hand.
    """
    config = load_hosts(hosts_file or Path(folder.text("hosts_file")))
    with durable.claimed(folder.path):
        journal = Journal(folder.journal_path)
        with reached(config, CommandLog(folder.commands_path)) as (hosts, gone):
            return _put_back(journal, hosts, gone, config)


def by_hosts(hosts_file: Path) -> Counter[str]:
    """Put back what runs left changed on these hosts by what the hosts themselves have noted; as :func:`by_journal`.

    For a controller that has lost the run's folder. Raises HostError where a run is using a host.
    """
    config = load_hosts(hosts_file)
    count: Counter[str] = Counter()
    with reached(config) as (hosts, gone):
        contents = [host_journal.read(host) for host in hosts.values()]
        for content in contents:
            if content.in_use:
                raise content.in_use
        records = sorted((record for content in contents for record in content.records), key=attrgetter("number"))
        for run in sorted({record.run for record in records}):
            journal = Journal(None)
            for record in records:
                if record.run == run:
                    journal.intend(record)
            # what one host says must not reach the other
            touched = {role: hosts[role] for role in {record.host for record in journal.open}}
            count += _put_back(journal, touched, gone, config)
        if gone:
            raise HostError("\n".join(gone.values()))
    return count


def _put_back(journal: Journal, hosts: Mapping[str, Host], gone: dict[str, str], config: Hosts) -> Counter[str]:
    """Unwind a journal, under the lock of the run that wrote it."""
    count = sum(record.name != HOST_JOURNAL for record in journal.open)
    run = next((record.run for record in journal.open), "")
    settings = Settings(hosts, journal, host_journal.for_run(hosts, config, run) if run else {}, gone=gone)
    for role in hosts:
        try:
            settings.claim(role)
        except HostError as error:
            settings.connections.gone[role] = str(error)
    settings.unwind()
    return Counter(changes=count, restarted=settings.restorer.restarted.total())


def forget(folder: RunFolder) -> int:
    """Close the journal of a run whose hosts no longer exist; returns how many changes went with them."""
    with durable.claimed(folder.path):
        journal = Journal(folder.journal_path)
        records = list(journal.open)
        for record in reversed(records):
            journal.close(record)
    return len(records)
