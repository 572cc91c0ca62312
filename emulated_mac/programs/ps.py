"""ps(1) (adv_cmds: ps.c, keyword.c, print.c)."""

from __future__ import annotations

import os
import pwd
import time

from .. import bsd_getopt, developer_tools, processes
from ..kernel_client import call
from ..processes import Process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

USAGE = """\
usage: ps [-AaCcEefhjlMmrSTvwXx] [-O fmt | -o fmt] [-G gid[,gid...]]
          [-u]
          [-p pid[,pid...]] [-t tty[,tty...]] [-U user[,user...]]
       ps [-L]"""
DARWIN_PYTHON = "/linux/opt/emulated_mac/darwin_python.py"
STATES = {"R": "R", "S": "S", "D": "U", "T": "T", "t": "T", "Z": "Z", "I": "I"}
LETTERS = "AaCcEefG:g:hjLlMmO:o:p:rSTt:U:u:vwXx"
BY_USER = ("user", "pid", "pcpu", "pmem", "vsz", "rss", "tty", "stat", "start", "time", "command")
BY_PROCESS = ("pid", "tty", "time", "command")
LONG = ("uid", "pid", "ppid", "flags", "pri", "nice", "vsz", "rss", "wchan", "stat", "tty", "time", "command")
JOBS = ("user", "pid", "ppid", "pgid", "sess", "jobc", "stat", "tty", "time", "command")
FULL = ("uid", "pid", "ppid", "C", "stime", "tty", "time", "command")
ALIASES = {
    "%cpu": "pcpu", "%mem": "pmem", "tt": "tty", "ni": "nice", "state": "stat", "args": "command", "vsize": "vsz",
    "cputime": "time", "f": "flags", "rssize": "rss", "pgrp": "pgid",
}  # fmt: skip


class Columns:
    """The columns by keyword: heading, width (negative: aligned left), and a function of the process."""

    def __init__(self) -> None:
        self.boot = float(call("boot_time"))
        self.now = time.time()
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self.columns: dict[str, tuple[str, int, Callable[[Process], object]]] = {
            "pid": ("PID", 5, lambda process: process.pid), "ppid": ("PPID", 5, lambda process: process.ppid),
            "pgid": ("PGID", 5, lambda process: process.pgid), "sess": ("SESS", 6, lambda process: 0),
            "uid": ("UID", 5, lambda process: _signed(process.euid)),
            "ruid": ("RUID", 5, lambda process: _signed(process.uid)),
            "user": ("USER", -16, lambda process: _user(process.euid)),
            "ruser": ("RUSER", -16, lambda process: _user(process.uid)), "stat": ("STAT", -4, _state),
            "tty": ("TTY", -8, _terminal), "lstart": ("STARTED", -28, self._lstart),
            "start": ("STARTED", -9, self._start), "stime": ("STIME", -9, self._start),
            "etime": ("ELAPSED", 11, lambda process: _elapsed(self.age(process))),
            "time": ("TIME", 9, lambda process: _minutes(process.cpu_s)),
            "pcpu": ("%CPU", 5, self._cpu_percent),
            "pmem": ("%MEM", 4, lambda process: f"{100 * process.resident / memory:.1f}"),
            "rss": ("RSS", 6, lambda process: process.resident // 1024),
            "vsz": ("VSZ", 8, lambda process: process.virtual // 1024),
            "nice": ("NI", 2, lambda process: process.nice), "pri": ("PRI", 3, lambda process: 31),
            "flags": ("F", 8, lambda process: "4004"),
            "wchan": ("WCHAN", -6, lambda process: "-"), "jobc": ("JOBC", 4, lambda process: 0),
            "C": ("C", 3, lambda process: 0),
            "comm": ("COMM", -16, _comm), "ucomm": ("UCOMM", -16, _ucomm),
            "command": ("COMMAND", -16, lambda process: _visible(" ".join(_argv(process))) or f"({process.name})"),
        }  # fmt: skip

    def age(self, process: Process) -> float:
        """Seconds since its start."""
        return self.now - self.boot - process.started

    def _cpu_percent(self, process: Process) -> str:
        return f"{100 * process.cpu_s / max(self.age(process), 0.01):.1f}"

    def _lstart(self, process: Process) -> str:
        return time.strftime("%c", time.localtime(self.boot + process.started))

    def _start(self, process: Process) -> str:
        started = time.localtime(self.boot + process.started)
        return time.strftime("%a%I%p" if self.age(process) > 86400 else "%I:%M%p", started)


def main(argv: list[str]) -> int:
    """Print the selected processes; 1 if there is none."""
    argv = [f"-{argv[0]}", *argv[1:]] if argv and argv[0].isalpha() else argv
    by_user = (
        len(argv) == 1 and set(argv[0]) <= set("-auxw") and "u" in argv[0]
    )  # here u is a format; elsewhere it is followed by a user
    options, words = bsd_getopt.parse("ps", argv, "auxw" if by_user else LETTERS, USAGE)
    flags = {letter for letter, _ in options}
    if words:
        bsd_getopt.fail_with_usage(USAGE)
    if lacking := flags & set("MmvLETXGgCrO"):
        bsd_getopt.fail_as_not_emulated("ps", f"-{min(lacking)}")
    available = Columns()
    columns = (
        [(name, available.columns[name][0]) for name in BY_USER] if by_user else _columns(available, options, flags)
    )
    rows = [process for process in processes.read_all() if _is_selected(process, options, flags)]
    if any(heading for _, heading in columns):
        print(_line(available, columns, None))
    for process in rows:
        print(_line(available, columns, process))
    return 0 if rows else 1


def _columns(available: Columns, options: list[tuple[str, str]], flags: set[str]) -> list[tuple[str, str]]:
    """Pairs of keyword and heading; the last keyword of each -o may have its own heading, after =."""
    formats = [value for letter, value in options if letter == "o"]
    if not formats:
        names = FULL if "f" in flags else LONG if "l" in flags else JOBS if "j" in flags else BY_PROCESS
        return [(name, available.columns[name][0]) for name in names]
    columns = []
    for text in formats:
        listed, has_heading, own = text.partition("=")
        words = listed.replace(",", " ").split()
        for word in words:
            name = ALIASES.get(word, word)
            if name not in available.columns:
                bsd_getopt.fail(f"ps: {word}: keyword not found")
            columns.append((name, own if has_heading and word == words[-1] else available.columns[name][0]))
    return columns


def _is_selected(process: Process, options: list[tuple[str, str]], flags: set[str]) -> bool:
    """Whether to print a process: by default the caller's own with a terminal."""
    lists = {
        letter: value.replace(" ", ",").split(",")
        for letter, value in options
        if letter in "ptU" or (letter == "u" and value)
    }
    if "p" in lists and str(process.pid) in lists["p"]:
        return True
    owners = {*lists.get("U", ()), *lists.get("u", ())}
    if owners & {str(process.uid), _user(process.uid)}:
        return True
    if "t" in lists and _terminal(process).removeprefix("tty") in {name.removeprefix("tty") for name in lists["t"]}:
        return True
    if lists:
        return False
    if flags & {"A", "e"} or {"a", "x"} <= flags:
        return True
    mine, with_terminal = process.uid == os.getuid(), process.terminal != 0
    return (mine or "a" in flags) and (with_terminal or "x" in flags)


def _line(available: Columns, columns: list[tuple[str, str]], process: Process | None) -> str:
    """A row, or the headings if there is no process; the last column is not padded."""
    cells = []
    for index, (name, heading) in enumerate(columns):
        _, width, show = available.columns[name]
        text = heading if process is None else str(show(process))
        width = width if abs(width) >= len(heading) else len(heading) * (-1 if width < 0 else 1)
        is_last = index == len(columns) - 1 and width < 0
        cells.append(text if is_last else text.ljust(-width) if width < 0 else text.rjust(width))
    return " ".join(cells)


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _argv(process: Process) -> list[str]:
    """The program's words on the Mac, without those that the emulation adds."""
    if process.pid == 1:
        return ["/sbin/launchd"]
    words = [
        word.replace("/linux/usr/", "/usr/", 1) if word.startswith("/linux/usr/") else word for word in process.argv
    ]
    if words[:1] == ["/usr/bin/python3"] and len(words) > 2 and words[2].startswith(("/usr/", "/bin/", "/sbin/")):
        return words[2:]
    if words[2:3] == [DARWIN_PYTHON]:
        return [developer_tools.PYTHON3, *words[3:]]
    return [word for word in words if word not in ("-I/linux/opt/emulated_mac/perl", "-MDarwin")]


def _ucomm(process: Process) -> str:
    """The name that the kernel keeps."""
    return "launchd" if process.pid == 1 else process.name


def _comm(process: Process) -> str:
    """The program's first word, as keyword comm shows it."""
    words = _argv(process)
    return _visible(words[0]) if words else f"({process.name})"


def _visible(words: str) -> str:
    """Encode as strvis(3) does, so that a process's words never break a line of the list."""
    return "".join(
        f"^{chr(ord(letter) ^ 64)}" if ord(letter) < 32 or ord(letter) == 127 else letter for letter in words
    )


def _signed(uid: int) -> int:
    """A user id as %d prints it: -2 is nobody."""
    return uid - (1 << 32) if uid >> 31 else uid


def _state(process: Process) -> str:
    text = STATES.get(process.state, "S")
    text += "N" if process.nice > 0 else "<" if process.nice < 0 else ""
    text += "s" if process.session == process.pid else ""
    return text + ("+" if process.foreground == process.pgid and process.terminal else "")


def _terminal(process: Process) -> str:
    return f"ttys{process.terminal & 0xFF:03d}" if process.terminal else "??"


def _minutes(seconds: float) -> str:
    return f"{int(seconds // 60)}:{seconds % 60:05.2f}"


def _elapsed(seconds: float) -> str:
    whole = max(0, int(seconds))
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    text = f"{minutes:02d}:{whole % 60:02d}"
    text = f"{hours:02d}:{text}" if days or hours else text
    return f"{days:02d}-{text}" if days else text
