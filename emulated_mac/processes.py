"""The host's processes, from the /proc of the Linux below; a Mac has no /proc."""

import os

PROC = "/linux/proc"
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Process:
    """One process from Linux's /proc; ``started`` in seconds since the machine's start, sizes in bytes."""

    def __init__(self, pid: int):
        name, _, rest = read(f"{pid}/stat").partition("(")[2].rpartition(") ")
        row = rest.split()
        status = read(f"{pid}/status")
        uids = status[status.index("\nUid:") :].split(maxsplit=3)
        words = read(f"{pid}/cmdline").rstrip("\0")
        self.pid, self.name, self.state = pid, name, row[0]
        self.ppid, self.pgid, self.session, self.terminal, self.foreground = map(int, row[1:6])
        self.uid, self.euid = int(uids[1]), int(uids[2])
        self.cpu_s = (int(row[11]) + int(row[12])) / TICKS
        self.nice, self.started = int(row[16]), int(row[19]) / TICKS
        self.virtual, self.resident = int(row[20]), int(row[21]) * PAGE
        self.argv = words.split("\0") if words else []


def read(path: str) -> str:
    """A file of /proc. Raises OSError."""
    with open(f"{PROC}/{path}", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        return file.read()


def find(pid: int) -> Process | None:
    """One process, or None if it has ended."""
    try:
        return Process(pid)
    except OSError:
        return None


def read_all() -> list[Process]:
    """All processes, by pid."""
    pids = sorted(int(name) for name in os.listdir(PROC) if name.isdigit())  # noqa: PTH208
    return [process for process in map(find, pids) if process is not None]


def read_cpu_ticks() -> tuple[int, int, int, int]:
    """Ticks of all cores since their start: user, nice, system, idle."""
    row = [int(word) for word in read("stat").split("\n", 1)[0].split()[1:]]
    return row[0], row[1], row[2] + row[5] + row[6], row[3] + row[4]


def read_memory_pages(page_bytes: int) -> dict[str, int]:
    """Memory of the host below in pages of a Mac: free, active, inactive, wired."""
    rows = (line.split() for line in read("meminfo").splitlines())
    kib = {row[0].rstrip(":"): int(row[1]) for row in rows}
    wired = kib["Slab"] + kib["KernelStack"] + kib["PageTables"]
    used_kib = {"free": kib["MemFree"], "active": kib["Active"], "inactive": kib["Inactive"], "wired": wired}
    return {name: value * 1024 // page_bytes for name, value in used_kib.items()}


def read_event_counts() -> dict[str, int]:
    """Events of the host below: page faults, pages in and out, swapped pages."""
    rows = (line.split() for line in read("vmstat").splitlines())
    return {row[0]: int(row[1]) for row in rows}
