"""The journal on a host: what a run changes there, a lock against a second run, and a timer that undoes a change.

The journal is a folder in the lab's home on the host (:mod:`lab.hosts.own_folder`). It outlives a restart. Only its
owner can enter it: root, or the account where the lab has no root.

- ``lock``: the run that has the host; stale once the SSH session that wrote it has ended;
- ``RUN-NUMBER``: a record as in the controller's journal, from before the change until after it was put back;
- ``RUN-NUMBER.armed``, ``.fired``: the timer of a change that may cut the controller off. The timer keeps the commands
  that undo the change in its memory, not in a file;
- ``lease``, ``lease.socket``: the guard of the run's lease (:mod:`lab.settings.lease`).

No command line holds the token of a run or the name of a record, which begins with it.
"""

import json
import re
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lab.base.errors import CommandError, DeadlineExceeded, HostError
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts import Host
from lab.hosts.command import Command, script, shell_function
from lab.hosts.own_folder import OWN_FOLDER
from lab.hosts.processes import END_ORPHANS, ENDING, IS_ALIVE, SSH_SESSION
from lab.settings.journal import LineFormat, Record
from lab.settings.operation import Operation
from lab.settings.parameters import BOOT, HostJournalFolder, Token

LOCK = "journal/lock in the lab's folder there, /var/lib/file-share-lab or on a Mac /var/db/file-share-lab"
NAME = "the lab's ledger"
UNREADABLE = (
    "nothing of it was done. Look at MTU, sysctl, mounts and folders file-share-lab-* there, then remove the record"
)
LAPSED = (
    "it has heard nothing of this run for too long (`lease` in the hosts file), and has put back by itself what the "
    "run had changed"
)
WAIT_FOR_GUARD_S = 120.0
PROBE_BYTES = 65536  # more than a window of unacknowledged packets, so that full ones pass both ways
ALONE = read_script(__file__, "host_journal_alone.pl")
# Names of runs and records are in no list of processes: programs get them on standard input
NAMES = shell_function("names", read_script(__file__, "host_journal_names.pl"))
# remove: the files that match a line of standard input. move FROM TO: rename a file
FILES = NAMES + 'remove() { names remove; }\nmove() { printf \'%s\\n\' "$1" "$2" | names move; }\n'
FUNCTIONS = FILES + read_script(__file__, "host_journal_functions.sh")
ENTER = OWN_FOLDER + read_script(__file__, "host_journal_enter.sh")
MAKE = ENTER + 'make_journal "$1" || exit\n'
IS_OWN = 'is_own() { [ -f "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]; }\n'  # whether this account owns a record or a lock
TAKE = IS_OWN + ENDING + SSH_SESSION + END_ORPHANS + FUNCTIONS + read_script(__file__, "host_journal_take.sh")
TAKE_ALONE = MAKE + 'exec perl -e "$2" -- sh -c "$3"\n'  # $2 is ALONE, $3 runs while nobody else can take the lock
STATE = IS_OWN + ENTER + read_script(__file__, "host_journal_state.sh")
RELEASE = IS_OWN + ENDING + FUNCTIONS + ENTER + read_script(__file__, "host_journal_release.sh")
READ = IS_OWN + IS_ALIVE + ENTER + read_script(__file__, "host_journal_read.sh")
NOTE = read_script(__file__, "host_journal_note.pl")
RUN_THERE = 'exec perl -e "$2" --\n'  # in the folder of the journal
NOTE_SAFELY = MAKE + RUN_THERE
SESSION = read_script(__file__, "session.pl")
TIMER = IS_ALIVE + FILES + read_script(__file__, "host_journal_timer.sh")
ARM = FILES + MAKE + read_script(__file__, "host_journal_arm.sh")
TOO_LATE = '{ echo "too late: this host has taken it back already" >&2; exit 1; }'
CONFIRM = ENDING + FUNCTIONS + MAKE + f'read -r record; disarm "$record" || {TOO_LATE}'
STRIKE = ENDING + FUNCTIONS + MAKE + read_script(__file__, "host_journal_strike.sh")


@dataclass(frozen=True)
class TakenHostJournal(Operation):
    """The host journal itself, taken by a run. Undo gives up its lock and removes its folder once that is empty."""

    kind = "host-journal"
    label = NAME
    values = "absent|taken"
    volatile = False
    holds = True

    place: HostJournalFolder
    """Its folder; empty for the one in the lab's home."""
    token: Token
    """The token of the run."""

    def read(self) -> Command:
        return script(STATE, self.place, root=True, unlisted=(self.token,))

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(RELEASE, self.place, root=True, unlisted=(self.token,)),)


@dataclass(frozen=True)
class Contents:
    """A host journal: the error about a run that has the host now, or None; and the records, oldest first."""

    in_use: HostError | None
    records: tuple[Record, ...]


@dataclass(eq=False)
class HostJournal:
    """The journal of one host, for the run with this token. ``owner`` says who runs it; another user sees that."""

    host: Host
    run: str
    owner: Mapping[str, str]
    revert_after_s: float
    place: str = ""
    boot: str = field(default="", init=False)
    lapsed: bool = field(default=False, init=False)  # whether the host has undone by itself what its run had changed

    def record(self, number: int) -> Record:
        """The record of taking the host journal, which is put back last."""
        operation = TakenHostJournal(self.place, self.run)
        return Record(number, self.host.name, operation, old="absent", new="taken", run=self.run)

    def take(self, again: bool = False) -> None:
        """Take the lock, ``again`` over a new connection. Waits for a host that restores itself. Raises HostError."""
        deadline = time.monotonic() + WAIT_FOR_GUARD_S
        request = (self.run, json.dumps(dict(self.owner)))
        while True:
            lines = self._run(TAKE_ALONE, ALONE, TAKE, unlisted=request, deadline_s=60).splitlines()
            if lines[:1] != ["lapsed"] or time.monotonic() >= deadline:
                break
            time.sleep(1)
        if lines[:1] in (["held"], ["lapsed"]):
            raise _in_use(self.host, lines[1:])
        first, boot, had = lines if len(lines) == 3 else ("", "", "")
        # a cut answer would name another boot: then a restart would seem to have put everything back
        if first != "taken" or had not in ("again", "anew") or not re.fullmatch(BOOT, boot):
            message = f"no lock can be read from what the host printed: {lines[:2]!r:.200}"
            raise HostError(message, host=self.host.name)
        self.lapsed |= (again or self.boot != "") and had != "again"
        self.boot = boot

    def know(self, records: Iterable[Record]) -> None:
        """Learn of open changes that an earlier process of this run made."""

    def note(self, record: Record) -> None:
        """Write a record to the host's disk, before its change."""
        line = json.dumps(record.as_json()) + "\n"
        self._run(NOTE_SAFELY, NOTE, unlisted=(self._name(record),), given=line)

    def strike(self, records: Iterable[Record]) -> None:
        """Remove records of changes that have been put back, and end their timers."""
        names = [self._name(record) for record in records]
        if names:
            self._run(STRIKE, unlisted=names, deadline_s=60)

    def arm(self, record: Record) -> None:
        """Start a timer on the host that undoes this change after ``revert_after_s``, unless it is confirmed before."""
        undo = "".join(shlex.join(step.argv) + "\n" for step in record.undo)
        seconds = f"{max(1, round(self.revert_after_s))}"
        self._run(ARM, seconds, TIMER, SESSION, unlisted=(self._name(record),), given=undo)

    def confirm(self, record: Record) -> None:
        """Check that full packets pass both ways, then stop the timer. Raises HostError if it was too late."""
        probe = "x" * PROBE_BYTES
        if self.host.run("cat", given=probe, deadline_s=10).stdout != probe:
            raise HostError("echo test failed: the data came back changed", host=self.host.name)
        self._run(CONFIRM, unlisted=(self._name(record),))

    def _name(self, record: Record) -> str:
        return f"{record.run}-{record.number:06d}"

    def _run(
        self, text: str, *args: str, unlisted: Sequence[str] = (), given: str = "", deadline_s: float = 30.0
    ) -> str:
        return _run(self.host, text, self.place, *args, unlisted=unlisted, given=given, deadline_s=deadline_s)


def read(host: Host, line_format: LineFormat, place: str = "") -> Contents:
    """Read a host's journal; all its records count as records of this host. Raises HostError."""
    text = _run(host, READ, place)
    lines = text.splitlines()
    if lines[:1] not in (["held"], ["free"]):
        raise HostError(f"no host journal can be read from what the host printed: {text[:200]!r}", host=host.name)
    is_held = lines[0] == "held"
    in_use = _in_use(host, lines[1:3]) if is_held else None
    try:
        parsed = [line_format.parse(line) for line in lines[3 if is_held else 1 :]]
        records = [replace(record, host=host.name) for record in parsed if isinstance(record, Record)]
        if not all(record.run for record in records):  # it becomes the name of a file
            raise ValueError("it is of no run")
    except ValueError as error:
        message = f"{place or 'the host journal'}: a record cannot be read: {error}"
        raise HostError(message, UNREADABLE, host=host.name) from error
    return Contents(in_use, tuple(sorted(records, key=lambda record: (record.run, record.number))))


def _run(
    host: Host, text: str, *args: str, unlisted: Sequence[str] = (), given: str = "", deadline_s: float = 30.0
) -> str:
    """Run a script of the lab's and return its output. The message of a failure has only its last line."""
    try:
        return script(text, *args, root=True, unlisted=unlisted, given=given, deadline_s=deadline_s).run(host)
    except DeadlineExceeded:
        raise
    except CommandError as error:
        if "sudo:" in error.output:  # this error says what to do
            raise
        last_line = first_line(error.output.strip().rpartition("\n")[2]) or error.how_it_ended()
        raise HostError(f"{args[0] or 'the host journal'}: {last_line}", error.remedy, host=host.name) from error


def _in_use(host: Host, lock: list[str]) -> HostError:
    """The error about another run; ``lock`` holds the process of its session on the host, and its owner."""
    pid, owner = ([*lock, "", ""])[:2]
    has_lapsed = False
    try:
        values = json.loads(owner)
        who = first_line(f"{values['who']} (process {values['pid']}, since {values['since']})")
        has_lapsed = values.get("lapsed") is True
    except (ValueError, LookupError, TypeError):
        who = "a run that does not say whose it is"
    sudo = "" if host.needs_no_sudo else "sudo "
    unlock = f"`{sudo}kill {pid}` there ends its session" if re.fullmatch(r"[1-9]\d*", pid) else f"remove {LOCK}"
    remedy = (
        f"wait for its end: two runs at a time would disturb each other; if that controller is "
        f"gone, {unlock}, and `lab restore` puts back what it left"
    )
    if has_lapsed:
        remedy = "wait for its end: mostly a minute or two, on a busy host longer"
    return HostError(f"in use by {who}", remedy, host=host.name)
