"""chflags(1) (file_cmds: chflags.c; the keywords: Libc: gen/strtofflags.c). Immutable and append-only are refused."""

import os
import sys

from .. import attributes, bsd_getopt, mac_errors

USAGE = "usage: chflags [-fhvx] [-R [-H | -L | -P]] flags file ..."
FLAGS = {"nodump": 0x1, "opaque": 0x8, "hidden": 0x8000}  # <sys/stat.h>
NAMES = {"nodump": ("nodump", True), "dump": ("nodump", False), "opaque": ("opaque", True),
         "noopaque": ("opaque", False), "hidden": ("hidden", True), "uhidden": ("hidden", True),
         "nohidden": ("hidden", False), "nouhidden": ("hidden", False)}  # fmt: skip
# The emulation cannot enforce them, so it refuses to set them. Clearing them changes nothing
BINDING = ("uchg", "uchange", "uimmutable", "uappnd", "uappend", "schg", "schange", "simmutable", "sappnd", "sappend",
           "arch", "archived")  # fmt: skip


def main(argv: list[str]) -> int:
    """Change the flags of files; 1 if it failed for one."""
    options, words = bsd_getopt.parse("chflags", argv, "HLPRfhvx", USAGE)
    letters = {letter for letter, _ in options}
    if len(words) < 2:
        bsd_getopt.fail_with_usage(USAGE)
    if {"R", "h"} <= letters:
        bsd_getopt.fail("chflags: the -R and -h options may not be specified together.")
    if letters & set("HLvx"):
        bsd_getopt.fail_as_not_emulated("chflags", " ".join(argv))
    set_, clear = parse_flags(words[0])
    code = 0
    for path in (found for word in words[1:] for found in _walk(word, "R" in letters)):
        try:
            attributes.change_flags(path, set_, clear, follow=not letters & set("hR"))
        except OSError as error:
            if "f" not in letters:
                print_error(path, error)
                code = 1
    return code


def print_error(path: str, error: OSError) -> None:
    """What err(3) prints."""
    print(f"chflags: {path}: {mac_errors.text(error.errno or 0)}", file=sys.stderr)


def parse_flags(text: str) -> tuple[int, int]:
    """The flags to set and to clear, from keywords or an octal number. An unknown keyword ends the program."""
    if text[:1].isdigit():
        if not text.isdigit() or set(text) & set("89"):
            bsd_getopt.fail(f"chflags: invalid flags: {text}")
        number = int(text, 8)
        if number & ~sum(FLAGS.values()):
            bsd_getopt.fail_as_not_emulated("chflags", text)
        return number, sum(FLAGS.values()) & ~number
    set_ = clear = 0
    words = text.split(",")
    for position, word in enumerate(words):
        if word in BINDING:
            bsd_getopt.fail_as_not_emulated("chflags", word)
        if word in NAMES:
            flag, is_set = NAMES[word]
            set_, clear = (set_ | FLAGS[flag], clear) if is_set else (set_, clear | FLAGS[flag])
        elif word.removeprefix("no") not in BINDING:
            bsd_getopt.fail(f"chflags: invalid flag: {','.join(words[position:])}")
    return set_, clear


def show(flags: int) -> str:
    """Flags as ls prints them."""
    order = ("opaque", "nodump", "hidden")  # of strtofflags.c
    return ",".join(name for name in order if flags & FLAGS[name]) or "-"


def _walk(path: str, recursive: bool) -> list[str]:
    below = []
    if recursive and os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
        for folder, folders, files in os.walk(path):
            below += [os.path.join(folder, name) for name in (*folders, *files)]  # noqa: PTH118
    return [*below, path]
