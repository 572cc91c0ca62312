"""A background process on a host as a setting: started, proven ready, ended with all its children."""

from __future__ import annotations

from lab.settings import Command, Setting, script

READY_TRIES = 200
# $1 is the file with the pid. The start time guards against a pid that another process has since got.
IS_RUNNING = """
set -- $(cat "$1" 2>/dev/null) ""
if [ -n "$1" ] && now=$(ps -o lstart= -p "$1") && [ "$(echo $now)" = "$(shift; echo $*)" ]
then echo running; else echo absent; fi
"""
# $1 pid file, $2 log, $3 shell test of readiness, then the command
START = """
file=$1 log=$2 ready=$3; shift 3
perl -MPOSIX=setsid -e 'setsid(); exec @ARGV or die "$ARGV[0]: $!\\n"' -- "$@" >"$log" 2>&1 </dev/null &
pid=$!
tries=0
until sh -c "$ready"; do
    tries=$((tries + 1))
    if [ $tries -gt TRIES ] || ! kill -0 $pid 2>/dev/null; then
        echo "$1 did not become ready:" >&2; tail -n 5 "$log" >&2; kill -s KILL -- -$pid 2>/dev/null; exit 1
    fi
    sleep 0.05
done
echo $pid $(ps -o lstart= -p $pid) >"$file"
""".replace("TRIES", str(READY_TRIES))
STOP = """
pid=$(cut -d ' ' -f 1 "$1") || exit 0
kill -s TERM -- "-$pid" 2>/dev/null
tries=0
while kill -s 0 -- "-$pid" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -eq 100 ] && kill -s KILL -- "-$pid"
    [ $tries -gt 150 ] && exit 1
    sleep 0.05
done
rm -f "$1"
"""


def daemon(
    host: str, name: str, argv: tuple[str, ...], directory: str, ready: str = "true", root: bool = True
) -> Setting:
    """The setting of a process that runs in the background from here on.

    ``argv`` must stay in the foreground; it becomes the leader of a process group, and the whole group is ended.
    ``ready`` is a shell test that holds once it serves; its words must be the lab's own. ``directory`` takes the pid
    file and the log.
    """
    pid_file, log = f"{directory}/{name}.pid", f"{directory}/{name}.log"

    def undo(_: str) -> tuple[Command, ...]:
        return (script(STOP, pid_file, root=root),)

    return Setting(
        host=host,
        name=f"process {name}",
        read=script(IS_RUNNING, pid_file, root=root),
        wanted="running",
        apply=(script(START, pid_file, log, ready, *argv, root=root),),
        undo=undo,
    )


def listening(port: int) -> str:
    """A shell test: some process of a Linux host listens on this TCP port."""
    return f"cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ':{port:04X} [0-9A-F]*:0000 0A '"
