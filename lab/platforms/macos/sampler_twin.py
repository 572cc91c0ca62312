"""The twin of sampler.pl."""

import os
import re
import select
import subprocess
import sys
import time

LOOK_S, PROCESSES_S, IDLE_S = 0.25, 0.5, 1.0
FLOWING = 10_000  # bytes between two looks
SHARE = 20  # of the time: netstat may take one part in so many, and ps another
LARGEST = 4 << 20
NET, MEMORY = r"Name|.*<Link#", r".*page size|Pages (free|inactive|speculative)|.*outs:"


def now() -> float:
    """Seconds of the clock that the stopwatch has, too."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def lines_of(kept: str, *command: str) -> list[str]:
    """Of what a command prints the lines that match, each after the name of the command."""
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout.decode()
    return [f"{command[0]}:{line}" for line in printed.splitlines(keepends=True) if re.match(kept, line)]


def count_bytes(lines: list[str]) -> int:
    """Bytes both ways; columns are counted from the right, for the address may be missing."""
    rows = [line.split() for line in lines if "<Link#" in line]
    return int(rows[0][-5]) + int(rows[0][-2]) if rows and len(rows[0]) > 5 else 0


def next_time(start: float, every_s: float) -> float:
    """When to begin again what began at ``start`` and has just ended: not sooner than after ``every_s``."""
    return start + max(every_s, SHARE * (now() - start))


class Processes:
    """The CPU time of each process that used some since it was asked for last."""

    def __init__(self) -> None:
        self.used: dict[str, str] = {}

    def lines(self) -> list[str]:
        """As the stopwatch has them."""
        changed = []
        for line in lines_of(r".*\d", "ps", "-A", "-o", "pid=", "-o", "time=", "-o", "ucomm="):
            match = re.match(r"ps: *(\d+) +([\d:.]+) ", line)
            if match and self.used.get(match[1]) != match[2]:
                self.used[match[1]] = match[2]
                changed.append(line)
        return changed


class Lines:
    """The lines that a program prints, as they come."""

    def __init__(self, *command: str) -> None:
        self.pipe, end = os.pipe()
        self.program = subprocess.Popen(command, stdout=end)
        os.close(end)
        self.buffer = b""

    def next(self, until: float) -> str:
        """The next line, empty where none comes until then. Raises EOFError at the end."""
        while b"\n" not in self.buffer:
            if not select.select([self.pipe], [], [], max(0.0, until - now()))[0]:
                return ""
            read = os.read(self.pipe, 4096)
            if not read:
                raise EOFError
            self.buffer += read
        line, _, self.buffer = self.buffer.partition(b"\n")
        return f"{line.decode()}\n"


def append(path: str, text: str) -> None:
    """Add to the file, from the beginning where nobody has read it for long."""
    try:
        is_large = os.path.getsize(path) > LARGEST
    except OSError:
        is_large = False
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | (os.O_TRUNC if is_large else 0)
    try:
        file = os.open(path, flags, 0o666)
    except OSError:
        return
    os.write(file, text.encode())
    os.close(file)


def main(path: str, interface: str) -> None:
    """Sample until the folder is gone; see sampler.pl."""
    folder = path.rpartition("/")[0]
    iostat, processes = Lines("iostat", "-w", "1"), Processes()
    rows, look, next_processes, flows_until = 0, 0.0, 0.0, 0.0
    before: int | None = None
    append(path, "")
    while os.path.isdir(folder):
        try:
            row = iostat.next(look)
        except EOFError:
            break
        is_row = bool(re.match(r"[\d.\s]+$", row))
        rows += is_row
        row = row if is_row and rows > 1 else ""  # the first row is about all the time since the Mac started
        start = now()
        if not row and start < look:
            continue
        lines = lines_of(NET, "netstat", "-I", interface, "-b", "-n")
        at_s, bytes_moved, look = now(), count_bytes(lines), next_time(start, LOOK_S)
        if before is not None and abs(bytes_moved - before) > FLOWING:
            flows_until = start + IDLE_S
        before = bytes_moved
        if not row and start > flows_until:
            continue
        if next_processes <= start < flows_until:
            began = now()
            lines += processes.lines()
            next_processes = next_time(began, PROCESSES_S)
        if row:
            lines += [f"iostat:{row}", *lines_of(MEMORY, "vm_stat")]
        if lines:  # there are none where the interface is gone
            append(path, f"@ {at_s:.3f}\n{''.join(lines)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
