"""stat(1) of BSD: ``-f FORMAT`` (file_cmds: stat.c); GNU's ``-c`` is no option of it."""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat as modes
import sys
import time

from .. import attributes, bsd_getopt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

USAGE = "usage: stat [-FLnq] [-f format | -l | -r | -s | -x] [-t timefmt] [file|handle ...]"
Stat = os.stat_result
NUMBERS: dict[str, Callable[[Stat], int]] = {
    "z": lambda status: status.st_size, "i": lambda status: status.st_ino, "l": lambda status: status.st_nlink,
    "d": lambda status: status.st_dev, "u": lambda status: status.st_uid, "g": lambda status: status.st_gid,
    "b": lambda status: status.st_blocks, "k": lambda status: status.st_blksize,
    "a": lambda status: status.st_atime_ns // 10**9, "m": lambda status: status.st_mtime_ns // 10**9,
    "c": lambda status: status.st_ctime_ns // 10**9,
    "p": lambda status: status.st_mode,
}  # fmt: skip
# Values that Linux does not keep; the second argument says whether the link itself is meant
OWN: dict[str, Callable[[str, bool], int]] = {
    "f": lambda path, follow: attributes.read(path, follow).flags,
    "B": lambda path, follow: attributes.birth_ns(path, follow) // 10**9,
}
FRACTIONS: dict[str, Callable[[Stat], int]] = {
    "a": lambda status: status.st_atime_ns, "m": lambda status: status.st_mtime_ns,
    "c": lambda status: status.st_ctime_ns,
}  # fmt: skip
DEFAULT = '%d %i %Sp %l %Su %Sg %r %z "%Sa" "%Sm" "%Sc" "%SB" %k %b %#Xf %N'


def main(argv: list[str]) -> int:
    """Print a line for each file."""
    options, words = bsd_getopt.parse("stat", argv, "f:FLlnqrst:x", USAGE)
    values, flags = dict(options), {letter for letter, _ in options}
    if flags & set("Flrsx") or not words:
        bsd_getopt.fail_as_not_emulated("stat", " ".join(argv))
    code = 0
    for word in words:
        try:
            status = os.stat(word) if "L" in flags else os.lstat(word)  # noqa: PTH116
        except OSError as error:
            if "q" not in flags:
                print(f"stat: {word}: {'stat' if 'L' in flags else 'lstat'}: {error.strerror}", file=sys.stderr)
            code = 1
            continue
        text = fill_in(values.get("f", DEFAULT), status, word, values.get("t", "%b %e %H:%M:%S %Y"), "L" in flags)
        print(text, end="" if "n" in flags else "\n")
    return code


def fill_in(format_: str, status: Stat, name: str, time_format: str, follow: bool = False) -> str:
    """Fill in the fields of a format: ``%``, flags, width, ``S`` or a number's form, ``L`` or ``H``, the letter."""

    def field(match: re.Match[str]) -> str:
        width, form, part, letter = match.groups()
        if letter in "%nt@":
            return {"%": "%", "n": "\n", "t": "\t", "@": "1"}[letter]
        return (
            f"{_value(letter, form, part, status, name, time_format, follow):>{int(width)}}"
            if width
            else _value(letter, form, part, status, name, time_format, follow)
        )

    return re.sub(r"%[#+\- ]?(\d*)([SDOUXF]?)([HML]?)([a-zA-Z%@])", field, format_)


def _value(letter: str, form: str, part: str, status: Stat, name: str, time_format: str, follow: bool) -> str:
    if letter in "NT" or (letter == "r"):
        return {"N": name, "T": _type(status, name, form), "r": "0"}[letter]
    if letter not in NUMBERS and letter not in OWN:
        bsd_getopt.fail("stat: bad format", 1)
    if form == "F" and letter in FRACTIONS:
        return f"{FRACTIONS[letter](status) // 10**9}.{FRACTIONS[letter](status) % 10**9:09d}"
    number = NUMBERS[letter](status) if letter in NUMBERS else OWN[letter](name, follow)
    if letter == "p":
        return modes.filemode(number) if form == "S" else f"{number & 0o777:o}" if part == "L" else f"{number:o}"
    if form == "S" and letter == "u":
        return pwd.getpwuid(number).pw_name
    if form == "S" and letter == "g":
        return grp.getgrgid(number).gr_name
    if form == "S" and letter in "amcB":
        return time.strftime(time_format, time.localtime(number))
    return {"O": f"{number:o}", "X": f"{number:x}"}.get(form, str(number))


def _type(status: Stat, name: str, form: str) -> str:
    """The type of a file, as ls -F marks it."""
    return {"d": "/", "l": "@", "s": "=", "p": "|"}.get(
        modes.filemode(status.st_mode)[0], "*" if status.st_mode & 0o111 else ""
    )
