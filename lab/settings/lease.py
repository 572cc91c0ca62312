"""Leases: a host puts back by itself what a run changed on it, once it has heard nothing of the run for too long.

A guard runs there from the first change on, in a session of its own. It has in its memory, and in no file, what puts
each change back: commands made by the code here, which come over standard input. Each command of the journal and a sign
of life now and then (:func:`kept`) begin its lease anew. Once that has run out, the guard takes the host's lock, ends
the SSH session of the run, and puts back what still has a record in the host journal, as `lab restore` would.
"""

from __future__ import annotations

import functools
import getpass
import json
import math
import operator
import os
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from lab.base.errors import HostError
from lab.base.scripts import PYTHON, Script, read_script
from lab.hosts import Host, Role
from lab.hosts.hosts_file import Hosts
from lab.hosts.interpreter import join
from lab.hosts.processes import END_ORPHANS, IS_ALIVE, STARTED
from lab.settings.host_journal import ENTER, FILES, FUNCTIONS, IS_OWN, LAPSED, MAKE, NOTE, RELEASE, STRIKE, HostJournal
from lab.settings.journal import Record

# Of the lease: first the client unmounts, then the server stops serving, and all of it is done when the lease is over.
SHARES = {Role.CLIENT: 0.8, Role.SERVER: 0.9}
SIGNS_OF_LIFE = 6  # within a lease: some of them may get lost
GUARD = read_script(__file__, "lease_guard.pl")
TELL = read_script(__file__, "lease_tell.pl")
SEIZE = IS_OWN + IS_ALIVE + FUNCTIONS + END_ORPHANS + read_script(__file__, "lease_seize.sh")
START = STARTED + FILES + MAKE + read_script(__file__, "lease_start.sh")
RUN_TEXT = Script('exec perl -e "$2"', f"exec '{PYTHON}' -IBS -c \"$2\"")
NOTE_AND_TELL = (
    NOTE
    + TELL
    + Script("print tell_guard(do { local $/; <STDIN> });\n", "sys.stdout.write(tell_guard(sys.stdin.buffer.read()))\n")
)
RENEW = TELL + Script('print tell_guard("");\n', 'sys.stdout.write(tell_guard(b""))\n')


class LeasedHostJournal(HostJournal):
    """A host journal with a guard: after ``lease_s`` seconds without a word of the run it puts back what it has."""

    def __init__(
        self,
        host: Host,
        run: str,
        owner: Mapping[str, str],
        revert_after_s: float,
        place: str = "",
        *,
        lease_s: float,
    ):
        super().__init__(host, run, owner, revert_after_s, place)
        self.lease_s = lease_s
        self._noted: dict[str, Record] = {}

    def take(self, again: bool = False) -> None:
        """See :meth:`HostJournal.take`; a guard that there is goes on for another lease."""
        super().take(again)
        self.renew()

    def note(self, record: Record) -> None:
        """See :meth:`HostJournal.note`. The guard knows of it, too, before the change."""
        name = self._name(record)
        self._noted[name] = record
        given = json.dumps(record.as_json()) + "\n" + _message(name, record)
        if self._run(MAKE + RUN_TEXT, NOTE_AND_TELL, unlisted=(name,), given=given) != "kept":
            self._start_guard()

    def strike(self, records: Iterable[Record]) -> None:
        """See :meth:`HostJournal.strike`."""
        records = list(records)
        super().strike(records)
        for record in records:
            self._noted.pop(self._name(record), None)

    def renew(self) -> None:
        """Begin the lease anew, where the guard runs. Raises HostError."""
        self._run(ENTER + "enter_journal && " + RUN_TEXT, RENEW)

    def _start_guard(self) -> None:
        """Start the guard, for the first change or where it is gone, as after a restart of the host."""
        given = _join(_message(name, record) for name, record in self._noted.items())
        try:
            self._run(START, f"{self.lease_s:g}", GUARD, STRIKE, SEIZE, RELEASE, unlisted=(self.run,), given=given)
        except HostError:
            self.take()  # which says whether the guard before was faster
            if self.lapsed:
                raise HostError(LAPSED, host=self.host.role) from None
            raise


def _message(name: str, record: Record) -> str:
    """A record as the guard takes it."""
    steps = (record.read, *record.undo)
    words = [name, "1" if record.operation.holds else "", record.old, str(len(steps))]
    for step in steps:
        words += ["" if step.root else "1", str(math.ceil(step.deadline_s)), step.stdin, join(step.argv)]
    return _join(word + "\0" for word in words)


def _join(texts: Iterable[str]) -> str:
    """These texts as one; what is a script in them stays one."""
    return functools.reduce(operator.add, texts, "")


def describe_missing(hosts: Mapping[Role, Host], config: Hosts) -> list[str]:
    """A line for each host that keeps no lease, though the hosts file wants one."""
    wanted = hosts if config.lab.lease is not None else {}
    reasons = {role: reason for role, host in wanted.items() if (reason := _cannot_keep(host))}
    return [
        f"{role}: {reason} it keeps no lease: should this controller die, only `lab restore` puts it back"
        for role, reason in reasons.items()
    ]


def _cannot_keep(host: Host) -> str:
    """Why a host can keep no lease, in the first words of a sentence; empty where it can."""
    return "with sudo = helper" if host.is_narrow else ""


def for_run(hosts: Mapping[str, Host], config: Hosts, run: str) -> dict[str, HostJournal]:
    """The host journals of these hosts, by role, for a run of this program; ``run`` is its token."""
    who = f"{getpass.getuser()}@{socket.gethostname()}"
    owner = {"who": who, "pid": str(os.getpid()), "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    lease_s = config.lab.lease

    def journal_of(role: str, host: Host) -> HostJournal:
        revert_after_s = getattr(config, role).revert_after
        if lease_s is None or _cannot_keep(host):
            return HostJournal(host, run, owner, revert_after_s)
        return LeasedHostJournal(host, run, owner, revert_after_s, lease_s=lease_s * SHARES[Role(role)])

    return {role: journal_of(role, host) for role, host in hosts.items()}


@contextmanager
def kept(host_journals: Mapping[str, HostJournal]) -> Iterator[None]:
    """Give the guards signs of life until the end of this, whatever else is under way."""
    over = threading.Event()
    leased = [journal for journal in host_journals.values() if isinstance(journal, LeasedHostJournal)]
    threads = [threading.Thread(target=_renew_until, args=(journal, over), daemon=True) for journal in leased]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(5)  # no longer: a host may be out of reach


def _renew_until(journal: LeasedHostJournal, over: threading.Event) -> None:
    while not over.wait(journal.lease_s / SIGNS_OF_LIFE):
        with suppress(HostError):  # what the run does next finds out
            journal.renew()
