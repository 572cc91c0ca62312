"""df(1) (file_cmds: df.c). Sizes are those of the file systems below; on 10.15 and later most folders are of Data."""

from __future__ import annotations

import os
import sys

from .. import bsd_getopt, profiles
from ..kernel_client import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..records import MountRecord

USAGE = "usage: df [-b | -g | -H | -h | -k | -m | -P] [-ailn] [-T type] [-t] [filesystem ...]"
DATA = "/System/Volumes/Data"
# Folders that are links into Data (/usr/share/firmlinks)
FIRMLINKS = (
    "/Users",
    "/private",
    "/Volumes",
    "/Library",
    "/Applications",
    "/usr/local",
    "/opt",
    "/tmp",  # noqa: S108 – what a Mac has, to be compared with
    "/var",
    "/etc",
)
UNITS = {"b": (512, "512-blocks"), "k": (1024, "1024-blocks"), "m": (1 << 20, "1M-blocks"), "g": (1 << 30, "1G-blocks")}


def main(argv: list[str]) -> int:
    """One row a file system."""
    number = profiles.current().number
    options, words = bsd_getopt.parse("df", argv, "abgHhiklmnPT:t" + ("I,Y" if number >= (13,) else ""), USAGE, 64)
    letters = [letter for letter, _ in options]
    if set(letters) & {"H", "T", "t", "I", ",", "Y"}:
        bsd_getopt.fail_as_not_emulated("df", " ".join(argv))
    table: list[MountRecord] = call("mounts")
    code, rows = 0, []
    for word in words:
        mount = _find_mount(word, table)
        if mount is None:
            print(f"df: {word}: No such file or directory", file=sys.stderr)
            code = 1
        else:
            rows.append((mount, word))
    if not words:
        rows = [(mount, _path_of(mount["target"])) for mount in table]
    _print([(mount, os.statvfs(_path_of(place))) for mount, place in rows], letters, number)
    return code


def _path_of(target: str) -> str:
    """The real path of a mount point: the data volume is not a separate mount here."""
    return "/" if target == DATA else target


def _find_mount(word: str, table: list[MountRecord]) -> MountRecord | None:
    if not os.path.exists(word):  # noqa: PTH110
        return None
    path = os.path.realpath(word)
    targets = {mount["target"]: mount for mount in table}
    place = path
    while place not in targets:
        place = os.path.dirname(place)  # noqa: PTH120
    if place == "/" and DATA in targets and path.startswith(FIRMLINKS):
        place = DATA
    return targets[place]


def _print(rows: list[tuple[MountRecord, os.statvfs_result]], letters: list[str], number: tuple[int, ...]) -> None:
    unit = next((UNITS[letter] for letter in reversed(letters) if letter in UNITS), UNITS["b"])
    human = "h" in letters
    # inodes since 10.7, unless the POSIX form is asked for
    inodes = "P" not in letters and (number >= (10, 7) or "i" in letters)
    width = max([15, *(len(mount["source"]) for mount, _ in rows)])
    size, label = (9, "Size") if human else (len(unit[1]), unit[1])
    head = f"{'Filesystem':<{width}} {label:>{size}} {'Used':>9} {'Available' if not human else 'Avail':>9} Capacity"
    print(head + (f" {'iused':>8} {'ifree':>10} %iused " if inodes else "") + " Mounted on")
    for mount, stat in rows:
        total, free = stat.f_blocks * stat.f_frsize, stat.f_bavail * stat.f_frsize
        used = total - stat.f_bfree * stat.f_frsize
        share = f"{-(-100 * used // (used + free)) if used + free else 100}%"
        if human:
            cells = [_human(value) for value in (total, used, free)]
        else:
            cells = [str(-(-value // unit[0])) for value in (total, used, free)]
        line = f"{mount['source']:<{width}} {cells[0]:>{size}} {cells[1]:>9} {cells[2]:>9} {share:>7} "
        taken = stat.f_files - stat.f_ffree
        line += f" {taken:>8} {stat.f_ffree:>10} {100 * taken // max(1, stat.f_files):>5}%  " if inodes else ""
        print(f"{line}  {mount['target']}")


def _human(value: float) -> str:
    for unit in ("Bi", "Ki", "Mi", "Gi"):
        if value < 1024:
            return f"{value:.1f}{unit}" if value < 10 else f"{value:.0f}{unit}"
        value /= 1024
    return f"{value:.1f}Ti" if value < 10 else f"{value:.0f}Ti"
