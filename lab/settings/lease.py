"""Leases: a host undoes a run's changes by itself once it has heard nothing of the run for too long.

A guard runs on the host from the first change on, in a session of its own. It gets the commands that undo each change
on standard input and keeps them in memory, not in files. Each note of a change, and each sign of life
(:func:`keep_alive`), renews the lease. When the lease expires, the guard takes the host's lock and ends the SSH session
of the run. Then it undoes each change with a record in the host journal, as `lab restore` would.
"""

import getpass
import json
import math
import os
import re
import shlex
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from lab.base.errors import HostError
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts import Host, Role
from lab.hosts.command import Command, script
from lab.hosts.hosts_file import Hosts
from lab.hosts.processes import END_ORPHANS, ENDING, IS_ALIVE
from lab.settings import host_journal
from lab.settings.journal import Record

# Parts of the lease, so that the client mostly unmounts before the server stops serving
SHARES = {Role.CLIENT: 0.8, Role.SERVER: 0.9}
SIGNS_OF_LIFE = 6  # within a lease; some may get lost
GUARD = read_script(__file__, "lease_guard.pl")
TELL = read_script(__file__, "lease_tell.pl")
SEIZE = host_journal.IS_OWN + ENDING + host_journal.FUNCTIONS + END_ORPHANS + read_script(__file__, "lease_seize.sh")
# $2 seconds of a lease, $3 GUARD, $4 STRIKE, $5 SEIZE, $6 RELEASE. The guard has its socket once it prints its number
START = (
    IS_ALIVE
    + host_journal.FILES
    + host_journal.MAKE
    + """guard=$(perl -e "$3" -- "$1" "$2" "${SUDO_UID:-}" "$4" "$5" "$6") &&
    echo "$guard $(started "$guard")" >lease.part && move lease.part lease
"""
)
RENEW_OR_TELL = TELL + "print tell_guard(do { local $/; my $all = <STDIN>; defined $all ? $all : '' });\n"
NOTE_AND_TELL = host_journal.NOTE + RENEW_OR_TELL
OF_JOURNAL = host_journal.TakenHostJournal.kind
TELL_OWN = read_script(__file__, "lease_own_tell.sh")
START_OWN = IS_ALIVE + read_script(__file__, "lease_own_start.sh")
STRIKE_OWN = read_script(__file__, "lease_own_strike.sh")
END = ENDING + host_journal.FUNCTIONS + 'end "$1" "$2" "$(id -u)"\n'
RENEW = TELL + 'print tell_guard("");\n'
RENEW_SAFELY = host_journal.ENTER + "enter_journal && " + host_journal.RUN_THERE


@dataclass(eq=False)
class LeasedHostJournal(host_journal.HostJournal):
    """A host journal with a guard: after ``lease_s`` seconds without a word from the run it undoes the changes."""

    lease_s: float = field(kw_only=True)
    _noted: dict[str, Record] = field(default_factory=dict, init=False)

    def take(self, again: bool = False) -> None:
        """A running guard gets a new lease."""
        super().take(again)
        self.renew()

    def note(self, record: Record) -> None:
        """Tell the guard, too, before the change."""
        name = self._name(record)
        self._noted[name] = record
        given = json.dumps(record.as_json()) + "\n" + self._message(name, record)
        if self._run(host_journal.NOTE_SAFELY, NOTE_AND_TELL, unlisted=(name,), given=given) != "kept":
            self._start_guard()

    def strike(self, records: Iterable[Record]) -> None:
        records = list(records)
        super().strike(records)
        for record in records:
            self._noted.pop(self._name(record), None)

    def renew(self) -> None:
        """Begin the lease anew, where the guard runs. Raises HostError."""
        self._run(RENEW_SAFELY, RENEW)

    def _line(self, step: Command) -> tuple[str, str]:
        """``1`` if the guard is to run a command as the account, else empty; and the command line."""
        return "" if step.root else "1", shlex.join(step.argv)

    def _message(self, name: str, record: Record) -> str:
        """A record in the form that the guard reads."""
        steps = (record.read, *record.undo)
        words = [name, "1" if record.operation.holds else "", record.old, str(len(steps))]
        for step in steps:
            as_account, line = self._line(step)
            words += [as_account, str(math.ceil(step.deadline_s)), step.stdin, line]
        return "".join(word + "\0" for word in words)

    def _start_guard(self) -> None:
        """Start the guard, for the first change or if it is gone, as after a restart of the host."""
        given = "".join(self._message(name, record) for name, record in self._noted.items())
        args = (f"{self.lease_s:g}", GUARD, host_journal.STRIKE, SEIZE, host_journal.RELEASE)
        try:
            self._run(START, *args, unlisted=(self.run,), given=given)
        except HostError:
            self.take()  # finds out whether an earlier guard has put everything back
            if self.lapsed:
                raise HostError(host_journal.LAPSED, host=self.host.name) from None
            raise


@dataclass(eq=False)
class HelpedHostJournal(LeasedHostJournal):
    """The journal of a host with a narrow sudo. Its guard runs as the account and asks the helper for root commands.

    So the guard can do nothing that the account cannot. It lives in the lab's own folder on the host, which is the
    first change, and ends with that folder. From the second change on it knows how to undo the first one.
    """

    _struck: list[str] = field(default_factory=list, init=False)  # put back, and the guard does not know yet
    _guard: list[str] = field(default_factory=list, init=False)  # its process, and when that started

    def know(self, records: Iterable[Record]) -> None:
        self._noted |= {self._name(record): record for record in records if record.operation.kind != OF_JOURNAL}

    def note(self, record: Record) -> None:
        host_journal.HostJournal.note(self, record)
        folder, name = self._folder, self._name(record)
        self._noted[name] = record
        if folder and not self._tell(folder, name, self._message(name, record)):
            self._start_guard()

    def strike(self, records: Iterable[Record]) -> None:
        """Without its folder the guard would end by itself only some seconds later."""
        records = list(records)
        super().strike(records)
        self._struck += map(self._name, records)
        if self._guard and not self._folder:
            script(END, *self._guard).run(self.host)
            self._guard = []

    def renew(self) -> None:
        if folder := self._folder:
            self._tell(folder, "", "")

    @property
    def _folder(self) -> str:
        """The lab's own folder on the host; empty before it exists, and after."""
        noted = list(self._noted.values())  # another thread may note one more meanwhile
        folders = (record.operation for record in noted if record.operation.kind == "folder")
        return str(getattr(next(folders, None), "path", ""))

    def _tell(self, folder: str, name: str, message: str) -> bool:
        """Send the guard a message, and the records that it may forget. False if no guard answers."""
        struck = list(self._struck)
        lines = (name, " ".join(struck))
        answer = script(TELL_OWN, folder, RENEW_OR_TELL, unlisted=lines, given=message).run(self.host).splitlines()
        if answer[-1:] != ["kept"]:
            return False
        del self._struck[: len(struck)]
        self._guard = self._parse_process(answer[0])
        return True

    def _start_guard(self) -> None:
        if self._guard:
            self.take()  # finds out whether the earlier guard has put everything back
            if self.lapsed:
                raise HostError(host_journal.LAPSED, host=self.host.name)
        scripts = (
            shlex.join(("/bin/sh", "-c", STRIKE_OWN, "sh", *self._asked(host_journal.STRIKE, ""))),
            shlex.join(self._asked(host_journal.TAKE_ALONE, "", host_journal.ALONE, SEIZE)),
            shlex.join(self._asked(host_journal.RELEASE, "")),
        )
        given = "".join(self._message(name, record) for name, record in self._noted.items())
        args = (self._folder, f"{self.lease_s:g}", GUARD, *scripts)
        start = script(START_OWN, *args, unlisted=(self.run, " ".join(self._noted)), given=given)
        self._guard = self._parse_process(start.run(self.host))

    def _parse_process(self, line: str) -> list[str]:
        """A process and when it started. Raises HostError."""
        pid, _, start = line.partition(" ")
        if not (re.fullmatch("[0-9]{1,10}", pid) and start):
            raise HostError(f"the guard of the lease cannot be read from {first_line(line, 60)}", host=self.host.name)
        return [pid, start]

    def _asked(self, text: str, *args: str) -> tuple[str, ...]:
        """The command by which the account asks the helper to run a script."""
        return self.host.as_root(script(text, *args).argv)

    def _line(self, step: Command) -> tuple[str, str]:
        return "", shlex.join(self.host.as_root(step.argv) if step.root else step.argv)


def for_run(hosts: Mapping[str, Host], config: Hosts, run: str) -> dict[str, host_journal.HostJournal]:
    """The journals of those of these hosts that a run may change, by name, for the run with this token."""
    who = f"{getpass.getuser()}@{socket.gethostname()}"
    owner = {"who": who, "pid": str(os.getpid()), "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    lease_s = config.lab.lease

    def journal_of(name: str, host: Host) -> host_journal.HostJournal:
        revert_after_s = config.section(name).revert_after
        if lease_s is None:
            return host_journal.HostJournal(host, run, owner, revert_after_s)
        kind = HelpedHostJournal if host.is_narrow else LeasedHostJournal
        return kind(host, run, owner, revert_after_s, lease_s=lease_s * SHARES[host.role])

    return {name: journal_of(name, host) for name, host in hosts.items() if name in config.changed}


@contextmanager
def keep_alive(host_journals: Mapping[str, host_journal.HostJournal]) -> Iterator[None]:
    """Send the guards signs of life in the background while the context is open."""
    ended = threading.Event()
    leased = [journal for journal in host_journals.values() if isinstance(journal, LeasedHostJournal)]
    threads = [threading.Thread(target=_renew_until, args=(journal, ended), daemon=True) for journal in leased]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(5)  # a host may be out of reach


def _renew_until(journal: LeasedHostJournal, ended: threading.Event) -> None:
    while not ended.wait(journal.lease_s / SIGNS_OF_LIFE):
        with suppress(HostError):  # the next command of the run reports it
            journal.renew()
