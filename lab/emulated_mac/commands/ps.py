"""ps(1) (adv_cmds: ps.c, keyword.c, print.c)."""

from __future__ import annotations

import os
import pwd
import time

from .. import options, processes
from ..processes import Process
from ..system import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

USAGE = """\
usage: ps [-AaCcEefhjlMmrSTvwXx] [-O fmt | -o fmt] [-G gid[,gid...]]
          [-u]
          [-p pid[,pid...]] [-t tty[,tty...]] [-U user[,user...]]
       ps [-L]"""
STATES = {"R": "R", "S": "S", "D": "U", "T": "T", "t": "T", "Z": "Z", "I": "I"}
LETTERS = "AaCcEefG:g:hjLlMmO:o:p:rSTt:U:u:vwXx"
BY_USER = ("user", "pid", "pcpu", "pmem", "vsz", "rss", "tty", "stat", "start", "time", "command")
DEFAULT = ("pid", "tty", "time", "command")
LONG = ("uid", "pid", "ppid", "flags", "pri", "nice", "vsz", "rss", "wchan", "stat", "tty", "time", "command")
JOBS = ("user", "pid", "ppid", "pgid", "sess", "jobc", "stat", "tty", "time", "command")
FULL = ("uid", "pid", "ppid", "C", "stime", "tty", "time", "command")
ALIASES = {
    "%cpu": "pcpu", "%mem": "pmem", "tt": "tty", "ni": "nice", "state": "stat", "args": "command", "vsize": "vsz",
    "cputime": "time", "f": "flags", "rssize": "rss", "pgrp": "pgid", "ruid": "uid",
}  # fmt: skip


class Shown:
    """What of a process is printed, by keyword: (heading, width, how). Those of text are on the left."""

    def __init__(self) -> None:
        self.boot = float(call("boot_time"))
        self.now = time.time()
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self.columns: dict[str, tuple[str, int, Callable[[Process], object]]] = {
            "pid": ("PID", 5, lambda one: one.pid), "ppid": ("PPID", 5, lambda one: one.ppid),
            "pgid": ("PGID", 5, lambda one: one.pgid), "sess": ("SESS", 6, lambda one: 0),
            "uid": ("UID", 5, lambda one: one.uid), "user": ("USER", -16, lambda one: _user(one.euid)),
            "ruser": ("RUSER", -16, lambda one: _user(one.uid)), "stat": ("STAT", -4, _state),
            "tty": ("TTY", -8, _terminal), "lstart": ("STARTED", -28, self._lstart),
            "start": ("STARTED", -9, self._start), "stime": ("STIME", -9, self._start),
            "etime": ("ELAPSED", 11, lambda one: _elapsed(self.age(one))),
            "time": ("TIME", 9, lambda one: _minutes(one.cpu_s)),
            "pcpu": ("%CPU", 5, lambda one: f"{100 * one.cpu_s / max(self.age(one), 0.01):.1f}"),
            "pmem": ("%MEM", 4, lambda one: f"{100 * one.resident / memory:.1f}"),
            "rss": ("RSS", 6, lambda one: one.resident // 1024), "vsz": ("VSZ", 8, lambda one: one.virtual // 1024),
            "nice": ("NI", 2, lambda one: one.nice), "pri": ("PRI", 3, lambda one: 31),
            "flags": ("F", 8, lambda one: "4004"),
            "wchan": ("WCHAN", -6, lambda one: "-"), "jobc": ("JOBC", 4, lambda one: 0), "C": ("C", 3, lambda one: 0),
            "comm": ("COMM", -16, _comm), "ucomm": ("UCOMM", -16, lambda one: one.name),
            "command": ("COMMAND", -16, lambda one: " ".join(_argv(one)) or f"({one.name})"),
        }  # fmt: skip

    def age(self, one: Process) -> float:
        """Seconds since its start."""
        return self.now - self.boot - one.started

    def _lstart(self, one: Process) -> str:
        return time.strftime("%c", time.localtime(self.boot + one.started))

    def _start(self, one: Process) -> str:
        started = time.localtime(self.boot + one.started)
        return time.strftime("%a%I%p" if self.age(one) > 86400 else "%I:%M%p", started)


def main(argv: list[str]) -> int:
    """Print the processes asked for; 1 where there is none."""
    argv = [f"-{argv[0]}", *argv[1:]] if argv and argv[0].isalpha() else argv
    by_user = len(argv) == 1 and set(argv[0]) <= set("-auxw") and "u" in argv[0]  # u is -u without a user
    found, words = options.parse("ps", argv, "auxw" if by_user else LETTERS, USAGE)
    flags = {letter for letter, _ in found}
    if words:
        options.refuse(USAGE)
    if lacking := flags & set("MmvLETXGgCrO"):
        options.lacking("ps", f"-{min(lacking)}")
    shown = Shown()
    columns = [(name, shown.columns[name][0]) for name in BY_USER] if by_user else _columns(shown, found, flags)
    rows = [one for one in processes.every() if _wanted(one, found, flags)]
    if any(heading for _, heading in columns):
        print(_line(shown, columns, None))
    for one in rows:
        print(_line(shown, columns, one))
    return 0 if rows else 1


def _columns(shown: Shown, found: list[tuple[str, str]], flags: set[str]) -> list[tuple[str, str]]:
    """(keyword, heading); the last keyword of each -o may have a heading of its own, after =."""
    formats = [value for letter, value in found if letter == "o"]
    if not formats:
        names = FULL if "f" in flags else LONG if "l" in flags else JOBS if "j" in flags else DEFAULT
        return [(name, shown.columns[name][0]) for name in names]
    columns = []
    for text in formats:
        listed, has_heading, own = text.partition("=")
        words = listed.replace(",", " ").split()
        for word in words:
            name = ALIASES.get(word, word)
            if name not in shown.columns:
                options.fail(f"ps: {word}: keyword not found")
            columns.append((name, own if has_heading and word == words[-1] else shown.columns[name][0]))
    return columns


def _wanted(one: Process, found: list[tuple[str, str]], flags: set[str]) -> bool:
    """Of the caller and with a terminal, unless more is asked for."""
    lists = {
        letter: value.replace(" ", ",").split(",")
        for letter, value in found
        if letter in "ptU" or (letter == "u" and value)
    }
    if "p" in lists and str(one.pid) in lists["p"]:
        return True
    owners = {*lists.get("U", ()), *lists.get("u", ())}
    if owners & {str(one.uid), _user(one.uid)}:
        return True
    if "t" in lists and _terminal(one).removeprefix("tty") in {name.removeprefix("tty") for name in lists["t"]}:
        return True
    if lists:
        return False
    if flags & {"A", "e"} or {"a", "x"} <= flags:
        return True
    mine, with_terminal = one.uid == os.getuid(), one.terminal != 0
    return (mine or "a" in flags) and (with_terminal or "x" in flags)


def _line(shown: Shown, columns: list[tuple[str, str]], one: Process | None) -> str:
    """A row, or the headings; the last column is as long as it is."""
    cells = []
    for index, (name, heading) in enumerate(columns):
        _, width, how = shown.columns[name]
        text = heading if one is None else str(how(one))
        width = width if abs(width) >= len(heading) else len(heading) * (-1 if width < 0 else 1)
        is_last = index == len(columns) - 1 and width < 0
        cells.append(text if is_last else text.ljust(-width) if width < 0 else text.rjust(width))
    return " ".join(cells)


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _argv(one: Process) -> list[str]:
    """As the program was called on the Mac: without what the emulation puts in front of it."""
    if one.pid == 1:
        return ["/sbin/launchd"]
    words = [word.replace("/linux/usr/", "/usr/", 1) if word.startswith("/linux/usr/") else word for word in one.argv]
    if words[:1] == ["/usr/bin/python3"] and len(words) > 2 and words[2].startswith(("/usr/", "/bin/", "/sbin/")):
        return words[2:]
    return [word for word in words if word not in ("-I/linux/opt/darwin/perl", "-MDarwin")]


def _comm(one: Process) -> str:
    """The first word that it was called with."""
    words = _argv(one)
    return words[0] if words else f"({one.name})"


def _state(one: Process) -> str:
    text = STATES.get(one.state, "S")
    text += "N" if one.nice > 0 else "<" if one.nice < 0 else ""
    text += "s" if one.session == one.pid else ""
    return text + ("+" if one.foreground == one.pgid and one.terminal else "")


def _terminal(one: Process) -> str:
    return f"ttys{one.terminal & 0xFF:03d}" if one.terminal else "??"


def _minutes(seconds: float) -> str:
    return f"{int(seconds // 60)}:{seconds % 60:05.2f}"


def _elapsed(seconds: float) -> str:
    whole = max(0, int(seconds))
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    text = f"{minutes:02d}:{whole % 60:02d}"
    text = f"{hours:02d}:{text}" if days or hours else text
    return f"{days:02d}-{text}" if days else text
