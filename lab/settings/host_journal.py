"""A host's own journal of what a run changes on it, its lock against a second run, and a timer that takes changes back.

A folder on the host that outlives a restart, whose owner is root (or the account itself, where the lab has no root):

- ``lock``: whose run this is; stale once the SSH session that wrote it has ended;
- ``RUN-NUMBER``: a record as in the controller's journal, there before the change and gone after it was put back;
- ``RUN-NUMBER.undo``, ``.armed``, ``.fired``: of the timer of a change that may cut the controller off.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import shlex
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lab.base.errors import CommandError, DeadlineExceeded, HostError
from lab.base.scripts import read_script
from lab.base.untrusted import first_line, word
from lab.hosts import Host
from lab.hosts.command import script
from lab.hosts.hosts_file import Hosts
from lab.hosts.processes import END_ORPHANS, IS_ALIVE, SSH_SESSION, STARTED
from lab.settings.journal import Record, parse

PLACE = "/var/tmp/file-share-lab"
NAME = "the lab's ledger"
LONGEST_STEP_S = 300.0
PROBE_BYTES = 65536  # more than a window of unacknowledged packets, so that it takes full ones both ways
# Perl gives the commands in its arguments the folder to themselves: whoever looks at the lock and takes it must not be
# disturbed by somebody else who does. The file lock ends with the process.
ALONE = r'open(my $folder, "<", ".") or die "$!\n"; flock($folder, 2) or die "$!\n"; exit(system(@ARGV) >> 8)'
FUNCTIONS = read_script(__file__, "host_journal_functions.sh")
ENTER = read_script(__file__, "host_journal_enter.sh")
MAKE = 'cd / && mkdir -m 700 "$1" 2>/dev/null\n' + ENTER
TAKE = IS_ALIVE + SSH_SESSION + END_ORPHANS + FUNCTIONS + read_script(__file__, "host_journal_take.sh")
STATE = read_script(__file__, "host_journal_state.sh")
RELEASE = read_script(__file__, "host_journal_release.sh")
ABSENT_IS_FREE = '[ -e "$1" ] || [ -L "$1" ] || { echo free; exit; }\n'
READ = IS_ALIVE + ABSENT_IS_FREE + ENTER + read_script(__file__, "host_journal_read.sh")
NOTE = read_script(__file__, "host_journal_note.pl")
TIMER = STARTED + read_script(__file__, "host_journal_timer.sh")
ARM = MAKE + read_script(__file__, "host_journal_arm.sh")
TOO_LATE = '{ echo "too late: this host has taken it back already" >&2; exit 1; }'
CONFIRM = IS_ALIVE + FUNCTIONS + MAKE + f'disarm "$2" || {TOO_LATE}'
STRIKE = IS_ALIVE + FUNCTIONS + MAKE + read_script(__file__, "host_journal_strike.sh")


@dataclass(frozen=True)
class Contents:
    """What a host journal holds: the error of a run that works on its host now, if one does; records, oldest first."""

    in_use: HostError | None
    records: tuple[Record, ...]


class HostJournal:
    """The host journal of one host, for the run with this token. ``owner`` tells other people who that is."""

    def __init__(self, host: Host, run: str, owner: Mapping[str, str], revert_after_s: float, place: str = PLACE):
        self.host, self.run, self.place, self.revert_after_s = host, run, place, revert_after_s
        self.owner = json.dumps(dict(owner))
        self.boot = ""

    def record(self, number: int) -> Record:
        """The change that the host journal itself is: the last thing to be put back."""
        return Record(
            number=number,
            host=self.host.role,
            name=NAME,
            old="absent",
            new="taken",
            read=script(STATE, self.place, self.run, root=True),
            undo=(script(RELEASE, self.place, self.run, root=True),),
            run=self.run,
            volatile=False,
            holds=True,
        )

    def take(self) -> None:
        """Take the lock, or take it again over a new connection. Raises HostError where another run has the host."""
        alone = MAKE + 'exec perl -e "$4" -- sh -c "$5" sh "$@"'
        lines = self._run(alone, self.run, self.owner, ALONE, TAKE, deadline_s=60).splitlines()
        if lines[:1] == ["held"]:
            raise _in_use(self.host.role, lines[1:])
        if lines[:1] != ["taken"]:
            message = f"no lock can be read from what the host printed: {lines[:2]!r:.200}"
            raise HostError(message, host=self.host.role)
        self.boot = " ".join(lines[1:2])

    def note(self, record: Record) -> None:
        """Put a record on the host's disk, before its change."""
        line = json.dumps(record.as_json()) + "\n"
        self._run(MAKE + 'exec perl -e "$3" -- "$2"', self._name(record), NOTE, given=line)

    def strike(self, records: Iterable[Record]) -> None:
        """Take out records of changes that have been put back, and end their timers."""
        names = [self._name(record) for record in records]
        if names:
            self._run(STRIKE, *names, deadline_s=60)

    def arm(self, record: Record) -> None:
        """Have the host take this change back by itself after ``revert_after_s``, unless it is confirmed before."""
        undo = "".join(shlex.join(step.argv) + "\n" for step in record.undo)
        seconds = f"{max(1, round(self.revert_after_s))}"
        self._run(ARM, self._name(record), seconds, TIMER, given=undo)

    def confirm(self, record: Record) -> None:
        """Prove that whole packets pass both ways, then call the timer off. Raises HostError where it was too late."""
        probe = "x" * PROBE_BYTES
        if self.host.run("cat", given=probe, deadline_s=10).stdout != probe:
            raise HostError("echo test failed: the data came back changed", host=self.host.role)
        self._run(CONFIRM, self._name(record))

    def _name(self, record: Record) -> str:
        return f"{record.run}-{record.number:06d}"

    def _run(self, text: str, *args: str, given: str = "", deadline_s: float = 30.0) -> str:
        return _run(self.host, text, self.place, *args, given=given, deadline_s=deadline_s)


def for_run(hosts: Mapping[str, Host], config: Hosts, run: str) -> dict[str, HostJournal]:
    """The host journals of these hosts, by role, for a run of this program; ``run`` is its token."""
    who = f"{getpass.getuser()}@{socket.gethostname()}"
    owner = {"who": who, "pid": str(os.getpid()), "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    return {role: HostJournal(host, run, owner, getattr(config, role).revert_after) for role, host in hosts.items()}


def read(host: Host, place: str = PLACE) -> Contents:
    """What a host's own journal holds; changes nothing. Raises HostError where it cannot be read.

    Its records are taken as records of this very host, whatever they say, and none may take for ever.
    """
    text = _run(host, READ, place)
    lines = text.splitlines()
    if lines[:1] not in (["held"], ["free"]):
        raise HostError(f"no host journal can be read from what the host printed: {text[:200]!r}", host=host.role)
    is_held = lines[0] == "held"
    in_use = _in_use(host.role, lines[1:3]) if is_held else None
    try:
        parsed = [parse(line) for line in lines[3 if is_held else 1 :]]
        records = [_bound(record, host.role) for record in parsed if isinstance(record, Record)]
    except ValueError as error:
        raise HostError(f"{place}: a record cannot be read: {error}", host=host.role) from error
    return Contents(in_use, tuple(sorted(records, key=lambda record: (record.run, record.number))))


def _bound(record: Record, role: str) -> Record:
    """A record as one of this host. Raises ValueError for a token that no run has: it becomes the name of a file."""
    word(record.run, "[A-Za-z0-9]{1,32}")
    read, *undo = (
        replace(step, deadline_s=min(step.deadline_s, LONGEST_STEP_S)) for step in (record.read, *record.undo)
    )
    return replace(record, host=role, read=read, undo=tuple(undo))


def _run(host: Host, text: str, *args: str, given: str = "", deadline_s: float = 30.0) -> str:
    """What a script of the lab's prints. Of one that fails the message has the last line, and no command to repeat."""
    try:
        return script(text, *args, root=True, given=given, deadline_s=deadline_s).run(host)
    except DeadlineExceeded:
        raise
    except CommandError as error:
        if "sudo:" in error.output:  # that error says what to do
            raise
        last_line = first_line(error.output.strip().rpartition("\n")[2]) or error.how_it_ended()
        raise HostError(f"{args[0]}: {last_line}", error.remedy, host=host.role) from error


def _in_use(role: str, lock: list[str]) -> HostError:
    """The error about another run; ``lock`` is the process of its session on the host, and its owner."""
    pid, owner = ([*lock, "", ""])[:2]
    try:
        values = json.loads(owner)
        who = first_line(f"{values['who']} (process {values['pid']}, since {values['since']})")
    except (ValueError, LookupError, TypeError):
        who = "a run that says no more of itself"
    unlock = (
        f"`sudo kill {pid}` there ends its session" if re.fullmatch(r"[1-9]\d*", pid) else f"remove {PLACE}/lock there"
    )
    remedy = (
        f"wait for its end, for two at a time would measure, and put back, over one another; if that controller is "
        f"gone, {unlock}, and `lab restore` puts back what it left"
    )
    return HostError(f"in use by {who}", remedy, host=role)
