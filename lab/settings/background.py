"""A background process on a host as a setting: started, proven ready, ended with all its children."""

from __future__ import annotations

from lab.hosts.command import Command, script
from lab.hosts.processes import ANY_OF, IS_ALIVE
from lab.settings.setting import Setting

READY_TRIES = 1500
# $1 is the file with pid and start. Children may outlive a leader that was killed: then something "remains".
IS_RUNNING = """
{ read -r pid && read -r start; } 2>/dev/null <"$1" || { echo absent; exit; }
if is_alive "$pid" "$start"; then echo running
elif runs "$pid"; then echo absent  # the pid went to another one
elif any_of "$pid"; then echo remains; else echo absent; fi
"""
# $1 the file, then the command: a session of its own, whose leader writes down who it is before it turns into the
# command. So it is found and ended wherever else this is cut short.
LEAD = r"""
use strict; use warnings; use POSIX 'setsid';
my $file = shift;
setsid();
my $start;
if (open my $stat, '<', "/proc/$$/stat") { ($start) = <$stat> =~ /^.*\) (.*)/; $start = (split ' ', $start)[19] }
else { $start = join ' ', split ' ', `ps -o lstart= -p $$` }
open my $own, '>', "$file.part" or die "$file.part: $!\n";
printf $own "%d\n%s\n", $$, $start and close $own and rename "$file.part", $file or die "$file: $!\n";
exec @ARGV or die "$ARGV[0]: $!\n";
"""
# $1 the same file, $2 log, $3 shell test of readiness, $4 LEAD, then the command
START = """
file=$1 log=$2 ready=$3 lead=$4; shift 4
rm -f "$file"
perl -e "$lead" -- "$file" "$@" >"$log" 2>&1 </dev/null &
pid=$!
tries=0
until [ -s "$file" ] && sh -c "$ready"; do
    tries=$((tries + 1))
    if [ $tries -gt TRIES ] || ! kill -0 $pid 2>/dev/null; then
        echo "$1 did not become ready:" >&2; tail -n 5 "$log" >&2; kill -s KILL -- -$pid 2>/dev/null
        rm -f "$file"; exit 1
    fi
    sleep 0.01
done
""".replace("TRIES", str(READY_TRIES))
STOP = """
read -r pid <"$1" || exit 0
kill -s TERM -- "-$pid" 2>/dev/null
tries=0
while any_of "$pid"; do
    tries=$((tries + 1))
    [ $tries -eq 200 ] && kill -s KILL -- "-$pid"
    [ $tries -gt 500 ] && exit 1
    sleep 0.01
done
rm -f "$1"
"""


def background_process(
    host: str, name: str, argv: tuple[str, ...], directory: str, ready: str = "true", root: bool = True
) -> Setting:
    """The setting of a process that runs in the background from here on.

    ``argv`` must stay in the foreground; it becomes the leader of a process group, and the whole group is ended.
    ``ready`` is a shell test that holds once it serves; its words must be the lab's own. ``directory`` takes the log
    and the file that identifies the process (not NAME.pid: some servers keep one of their own by that name).
    """
    identity, log = f"{directory}/{name}.process", f"{directory}/{name}.log"

    def undo(_: str) -> tuple[Command, ...]:
        return (script(ANY_OF + STOP, identity, root=root),)

    return Setting(
        host=host,
        name=f"process {name}",
        read=script(IS_ALIVE + ANY_OF + IS_RUNNING, identity, root=root),
        wanted="running",
        apply=(script(START, identity, log, ready, LEAD, *argv, root=root),),
        undo=undo,
    )


def listening(port: int) -> str:
    """A shell test: some process of the host listens on this TCP port; by the kernel's table, or else by netstat."""
    by_kernel = f"cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ':{port:04X} [0-9A-F]*:0000 0A '"
    by_netstat = f"netstat -an 2>/dev/null | grep LISTEN | grep -q '[.:]{port} '"
    return f"if [ -r /proc/net/tcp ]; then {by_kernel}; else {by_netstat}; fi"
