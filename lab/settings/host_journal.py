"""A host's own record of what a run changes on it, its lock against a second run, and a timer that takes changes back.

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
# A folder that somebody else made, or a link, could hold commands that are theirs.
ENTER = """
[ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] && cd "$1" || { echo "$1 is not the lab's own folder" >&2; exit 1; }
"""
OURS = 'cd / && mkdir -m 700 "$1" 2>/dev/null' + ENTER
# The start of a host: of its kernel, and of its first process, for a container has one of its own.
BOOT = """
boot() {
    kernel=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || sysctl -n kern.bootsessionuuid 2>/dev/null)
    echo $kernel $(started 1)
}
"""
# Ends the process $1 that started at $2.
END = """
end() {
    tries=0
    while is_alive "$1" "$2" && [ $tries -lt 100 ]; do kill -s TERM "$1"; sleep 0.02; tries=$((tries + 1)); done
}
"""
# The first line of the lock: run, process of the session, its start. $2 the run, $3 the owner, in JSON. The server of
# the connection that this run had before may not know yet that it is gone, and what it runs is no orphan until then.
TAKE = """
run= pid= start= owner=
{ read -r run pid start; read -r owner; } 2>/dev/null < lock
if [ -n "$run" ] && [ "$run" != "$2" ] && { [ "$pid" = 0 ] || is_alive "$pid" "$start"; }; then
    printf 'held\\n%s\\n%s\\n' "$pid" "$owner"; exit
fi
session=$(ssh_session)
[ "$run" != "$2" ] || [ "$pid $start" = "$session" ] || end "$pid" "$start"
end_orphans
if printf '%s %s\\n%s\\n' "$2" "$session" "$3" > "$2.lock" && mv -f "$2.lock" lock; then :; else
    rm -f "$2.lock"; exit 1
fi
printf 'taken\\n%s\\n' "$(boot)"
"""
# Whoever looks at the lock and takes it must not be disturbed by somebody else who does. This ends with the process.
ALONE = r'open(my $folder, "<", ".") or die "$!\n"; flock($folder, 2) or die "$!\n"; exit(system(@ARGV) >> 8)'
# A folder of ours with nothing in it was made by a run that came no further.
STATE = """
[ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] && cd "$1" || { echo absent; exit; }
{ read -r run rest < lock; } 2>/dev/null
if [ "$run" = "$2" ] || [ -e "$2.lock" ] || [ -z "$(ls -A)" ]; then echo taken; else echo absent; fi
"""
# The folder itself goes with the last of it.
RELEASE = """
cd "$1" || exit 0
{ read -r run rest < lock; } 2>/dev/null
[ "$run" = "$2" ] && rm -f lock
rm -f "$2".*
cd / && rmdir "$1" 2>/dev/null || :
"""
READ = (
    '[ -e "$1" ] || [ -L "$1" ] || { echo free; exit; }'
    + ENTER
    + """
{ read -r run pid start; read -r owner; } 2>/dev/null < lock
if [ -n "$run" ] && { [ "$pid" = 0 ] || is_alive "$pid" "$start"; }; then
    printf 'held\\n%s\\n%s\\n' "$pid" "$owner"
else
    echo free
fi
for record in *-[0-9]*; do case $record in *.*|'*-'*) ;; *) cat "$record" ;; esac; done
"""
)
# perl, because no shell can wait for one file to be on the disk. $1 folder, $2 name; the content is standard input.
NOTE = r"""
use strict; use warnings; use IO::Handle;
my ($name) = @ARGV;
open my $file, '>', "$name.part" or die "$name.part: $!\n";
print $file do { local $/; <STDIN> } or die "$name: $!\n";
$file->flush && $file->sync && close $file && rename "$name.part", $name or die "$name: $!\n";
if (open my $folder, '<', '.') { $folder->sync }
"""
# It counts seconds instead of sleeping once, so that it ends soon after it was told so.
TIMER = """
trap '' HUP
echo "$$ $(started $$)" > "$1.armed" || exit
tries=0
while [ $tries -lt "$2" ]; do
    sleep 1
    [ -e "$1.armed" ] || exit 0
    tries=$((tries + 1))
done
mv "$1.armed" "$1.fired" 2>/dev/null && sh "$1.undo"
"""
# In a session of its own, so that it outlives the one of SSH. $2 name, $3 seconds; standard input: what takes it back.
ARM = """
cat > "$2.undo" || exit
rm -f "$2.armed" "$2.fired"
perl -MPOSIX=setsid -e 'setsid(); exec @ARGV' sh -c "$4" sh "$2" "$3" </dev/null >/dev/null 2>&1 &
until [ -s "$2.armed" ]; do
    sleep 0.01
    kill -s 0 $! || { echo "the timer that takes it back did not start" >&2; exit 1; }
done
"""
# End the timer of $1; fails where it has begun to take the change back, which it is let finish.
DISARM = """
disarm() {
    if mv "$1.armed" "$1.off" 2>/dev/null; then signal=TERM file=$1.off; else signal=0 file=$1.fired; fi
    { read -r pid start; } 2>/dev/null < "$file" || return
    tries=0
    while is_alive "$pid" "$start" && [ $tries -lt 3000 ]; do
        kill -s $signal -- "-$pid"; sleep 0.01; tries=$((tries + 1))
    done
    rm -f "$1.off"
    [ $signal = TERM ]
}
"""
CONFIRM = 'disarm "$2" || { echo "too late: this host has taken it back already" >&2; exit 1; }'
STRIKE = """
shift
for record in "$@"; do
    if [ -e "$record.armed" ] || [ -e "$record.fired" ]; then disarm "$record"; fi
    rm -f "$record" "$record".*
done
"""


@dataclass(frozen=True)
class Found:
    """What a host journal holds: who works on its host now (empty: nobody), and its records, oldest first."""

    holder: str
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
        take = IS_ALIVE + BOOT + SSH_SESSION + END_ORPHANS + END + TAKE
        alone = OURS + 'exec perl -e "$4" -- sh -c "$5" sh "$@"'
        said = self._run(alone, self.run, self.owner, ALONE, take, deadline_s=60).splitlines()
        if said[:1] == ["held"]:
            raise HostError(_in_use(self.host.role, said[1:]))
        if said[:1] != ["taken"]:
            raise HostError(f"{self.host.role}: no lock can be read from what the host printed: {said[:2]!r:.200}")
        self.boot = " ".join(said[1:2])

    def note(self, record: Record) -> None:
        """Put a record on the host's disk, before its change."""
        self._run(
            OURS + 'exec perl -e "$3" -- "$2"', self._name(record), NOTE, given=json.dumps(record.as_json()) + "\n"
        )

    def strike(self, records: Iterable[Record]) -> None:
        """Take out records of changes that have been put back, and end their timers."""
        names = [self._name(record) for record in records]
        if names:
            self._run(IS_ALIVE + DISARM + OURS + STRIKE, *names, deadline_s=60)

    def arm(self, record: Record) -> None:
        """Have the host take this change back by itself after ``revert_after_s``, unless it is confirmed before."""
        undo = "".join(shlex.join(step.argv) + "\n" for step in record.undo)
        seconds = f"{max(1, round(self.revert_after_s))}"
        self._run(OURS + ARM, self._name(record), seconds, STARTED + TIMER, given=undo)

    def confirm(self, record: Record) -> None:
        """Prove that whole packets pass both ways, then call the timer off. Raises HostError where it was too late."""
        probe = "x" * PROBE_BYTES
        if self.host.run("cat", given=probe, deadline_s=10).stdout != probe:
            raise HostError(f"{self.host.role}: what was sent came back otherwise")
        self._run(IS_ALIVE + DISARM + OURS + CONFIRM, self._name(record))

    def _name(self, record: Record) -> str:
        return f"{record.run}-{record.number:06d}"

    def _run(self, text: str, *args: str, given: str = "", deadline_s: float = 30.0) -> str:
        return _run(self.host, text, self.place, *args, given=given, deadline_s=deadline_s)


def of(hosts: Mapping[str, Host], config: Hosts, run: str) -> dict[str, HostJournal]:
    """The host journals of these hosts, by role, for a run of this program."""
    who = f"{getpass.getuser()}@{socket.gethostname()}"
    owner = {"who": who, "pid": str(os.getpid()), "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    return {role: HostJournal(host, run, owner, getattr(config, role).revert_after) for role, host in hosts.items()}


def read(host: Host, place: str = PLACE) -> Found:
    """What a host's host journal holds; changes nothing. Raises HostError where it cannot be read.

    Its records are taken as records of this very host, whatever they say, and none may take for ever.
    """
    text = _run(host, IS_ALIVE + READ, place)
    lines = text.splitlines()
    if lines[:1] not in (["held"], ["free"]):
        raise HostError(f"{host.role}: no host journal can be read from what the host printed: {text[:200]!r}")
    held = lines[0] == "held"
    holder = _in_use(host.role, lines[1:3]) if held else ""
    try:
        records = [parse(line) for line in lines[3 if held else 1 :]]
        ours = [_bounded(record, host.role) for record in records if isinstance(record, Record)]
    except ValueError as error:
        raise HostError(f"{host.role}: {place}: a record cannot be read: {error}") from error
    return Found(holder, tuple(sorted(ours, key=lambda record: (record.run, record.number))))


def _bounded(record: Record, role: str) -> Record:
    """A record as one of this host. Raises ValueError for a token that no run has: it becomes the name of a file."""
    word(record.run, "[A-Za-z0-9]{1,32}")
    read, *undo = (
        replace(step, deadline_s=min(step.deadline_s, LONGEST_STEP_S)) for step in (record.read, *record.undo)
    )
    return replace(record, host=role, read=read, undo=tuple(undo))


def _run(host: Host, text: str, *args: str, given: str = "", deadline_s: float = 30.0) -> str:
    """What a script of ours prints; of one that fails the last words are the message, for nobody types it by hand."""
    try:
        return script(text, *args, root=True, given=given, deadline_s=deadline_s).run(host)
    except DeadlineExceeded:
        raise
    except CommandError as error:
        if "sudo:" in error.output:  # for which there is good advice
            raise
        said = first_line(error.output.strip().rpartition("\n")[2]) or error.how_it_ended()
        raise HostError(f"{host.role}: {args[0]}: {said}") from error


def _in_use(role: str, said: list[str]) -> str:
    """The message about another run; ``said`` is the process of its session on the host, and its owner."""
    pid, owner = ([*said, "", ""])[:2]
    try:
        known = json.loads(owner)
        who = first_line(f"{known['who']} (process {known['pid']}, since {known['since']})")
    except (ValueError, LookupError, TypeError):
        who = "a run that says no more of itself"
    remedy = (
        f"`sudo kill {pid}` there ends its session" if re.fullmatch(r"[1-9]\d*", pid) else f"remove {PLACE}/lock there"
    )
    return (
        f"{role}: in use by {who}. Two at a time would measure, and put back, over one another: wait for its end. "
        f"If that controller is gone: {remedy}, and `lab restore` puts back what it left"
    )
