"""The twin of stopwatch.pl, for Macs alone: macos/counts_twin.py stands in front of it on the host."""

import fcntl
import os
import resource
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lab.platforms.macos.counts_twin import counts
    from lab.platforms.server_watch_twin import watch

F_FULLFSYNC = 51  # <sys/fcntl.h> of macOS; Python's name for it is there on a Mac alone


def now() -> float:
    """Of the same clock as perl's."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def children_cpu_s() -> float:
    """CPU seconds of all children that have ended, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command: list[str]) -> int:
    """The exit code of a command; what it prints goes to standard error. A fork of Python takes longer than this."""
    # what is said on standard input is for the stopwatch
    output = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, 2, 1)]
    try:  # Python ignores SIGPIPE, and so would the command
        child = os.posix_spawnp(command[0], command, os.environ, file_actions=output, setsigdef=[signal.SIGPIPE])
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return error.errno or 255
    status = os.waitpid(child, 0)[1]
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def flush_file(path: str) -> str:
    """How the file was flushed, why not better, and what went wrong."""
    unwritable = ""
    try:
        file = os.open(path, os.O_RDWR)
    except OSError as error:
        unwritable = f"it cannot be opened for writing: {error.strerror}"
        try:
            file = os.open(path, os.O_RDONLY)
        except OSError as refused:
            return f"flushed none\nflush_error cannot open {path} to flush it: {refused.strerror}\n"
    try:
        fcntl.fcntl(file, F_FULLFSYNC, 0)
        return "flushed F_FULLFSYNC\n"
    except OSError as error:
        reason = unwritable or f"F_FULLFSYNC: {error.strerror}"
    try:
        os.fsync(file)
    except OSError as error:
        return f"flushed none\nflush_error cannot flush {path}: {error.strerror}\n"
    return f"flushed {'none' if unwritable else 'fsync'}\nflush_reason {reason}\n"


def flush_all(path: str) -> str:
    """The same of each file below a folder: the first that went wrong, or the worst way that one was flushed in."""
    left, ways = [path], set()
    while left:
        path = left.pop(0)
        if not os.path.isdir(path) or os.path.islink(path):
            way = flush_file(path)
            if "flush_error" in way:
                return way
            ways.add(way)
            continue
        try:
            left += [f"{path}/{name}" for name in os.listdir(path)]
        except OSError as error:
            return f"flushed none\nflush_error cannot open {path} to flush it: {error.strerror}\n"
    return max(ways, default="flushed none\n")  # as words, F_FULLFSYNC is before fsync, and that before none


def say(word: str, seconds: float) -> None:
    """Print it at once."""
    sys.stdout.write(f"{word} {seconds:.6f}\n")
    sys.stdout.flush()


def hear_start() -> float:
    """Answer with the time until told when to start, and say when that is. Whoever said nothing has gone."""
    for line in iter(sys.stdin.readline, ""):
        word, _, seconds = line.strip().partition(" ")
        if word == "start":
            return float(seconds)
        say("now", now())
    raise SystemExit(1)


def sleep_until(at: float) -> None:
    """Wait until the clock says so."""
    left = at - now()
    while left > 0:
        time.sleep(left - 0.003 if left > 0.004 else 0.0002)
        left = at - now()


def main(interface: str, flush: str, server: str, start_mode: str, *command: str) -> None:
    """Count, and time the command where there is one."""
    at = 0.0
    if start_mode:
        began = now()
        counts("before", interface)
        say("ready", now() - began)
        at = hear_start()
    report = ["clock monotonic\n", *(f"before|{line}" for line in counts("before", interface))]
    if command:
        watching = watch(interface, server) if server else 0
        used = children_cpu_s()
        sleep_until(at)
        start = now()
        code = run(list(command))
        ended, flushed = now(), "flushed none\n"
        if code == 0 and flush:
            flushed = flush_all(flush)
            flushed += f"flush_s {now() - ended:.6f}\n"
        elapsed, used = now() - start, children_cpu_s() - used
        if watching:
            os.kill(watching, signal.SIGKILL)
            os.waitpid(watching, 0)
        report += [f"after|{line}" for line in counts("after", interface)]
        report.append(f"elapsed_s {elapsed:.6f}\ntool_cpu_s {used:.2f}\nexit {code}\n{flushed}")
        if start_mode:
            report.append(f"started {start:.6f}\nended {start + elapsed:.6f}\nsamples_ahead 0.0\n")
    sys.stdout.write("".join(report))
    if start_mode:
        sys.stdout.write("end of report\n")
        sys.stdout.flush()
        for _ in iter(sys.stdin.readline, ""):
            say("now", now())


if __name__ == "__main__":
    main(*sys.argv[1:])
