"""A background process on a host as a setting: started, proven ready, ended with all its children."""

from __future__ import annotations

from lab.settings import Command, Setting, script

READY_TRIES = 1500
# When a process started, as text that stays the same as long as it lives; a pid alone may have gone to another one.
# Linux's ps works it out from the clock and is a second off now and then: /proc has the kernel's own number.
STARTED = """
started() {
    if [ -r "/proc/$1/stat" ]; then sed 's/^.*) //' "/proc/$1/stat" | cut -d ' ' -f 20; else ps -o lstart= -p "$1"; fi
}
"""
# Whether anything of a process group runs. A zombie does not: its parent has yet to look, and the first process of a
# container may never do so.
ANY_OF = """
any_of() {
    kill -s 0 -- "-$1" 2>/dev/null || return 1
    rows=$(ps -A -o pgid= -o stat=) || return 0  # a ps that cannot tell proves nothing
    echo "$rows" | grep -q "^ *$1  *[^Z ]"
}
"""
# $1 is the file with pid and start. Children may outlive a leader that was killed: then something "remains".
IS_RUNNING = """
{ read -r pid && read -r start; } 2>/dev/null <"$1" || { echo absent; exit; }
state=$(ps -o stat= -p "$pid")
if [ -n "$state" ] && [ "${state#Z}" = "$state" ]; then
    if [ "$(started "$pid")" = "$start" ]; then echo running; else echo absent; fi
elif any_of "$pid"; then echo remains; else echo absent; fi
"""
# $1 the same file, $2 log, $3 shell test of readiness, then the command
START = """
file=$1 log=$2 ready=$3; shift 3
perl -MPOSIX=setsid -e 'setsid(); exec @ARGV or die "$ARGV[0]: $!\\n"' -- "$@" >"$log" 2>&1 </dev/null &
pid=$!
# at once: were this script cut short before the process is ready, it must still be found and ended
{ echo $pid; started $pid; } >"$file"
tries=0
until sh -c "$ready"; do
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
    [ $tries -eq 500 ] && kill -s KILL -- "-$pid"
    [ $tries -gt 800 ] && exit 1
    sleep 0.01
done
rm -f "$1"
"""


def daemon(
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
        read=script(STARTED + ANY_OF + IS_RUNNING, identity, root=root),
        wanted="running",
        apply=(script(STARTED + START, identity, log, ready, *argv, root=root),),
        undo=undo,
    )


def listening(port: int) -> str:
    """A shell test: some process of the host listens on this TCP port; by the kernel's table, or else by netstat."""
    by_kernel = f"cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ':{port:04X} [0-9A-F]*:0000 0A '"
    by_netstat = f"netstat -an 2>/dev/null | grep LISTEN | grep -q '[.:]{port} '"
    return f"if [ -r /proc/net/tcp ]; then {by_kernel}; else {by_netstat}; fi"
