"""What ``ls -ld`` shows on a Mac with -e, -O and -@: list, flags, attributes of one object (file_cmds: ls/print.c)."""

import re
import subprocess
import sys

from . import attributes
from .programs.chflags import show

LINE = re.compile(r"([-a-z]\S{9})\S* +(\d+) (\S+) +(\S+) +(.*\n)")


def main(argv: list[str]) -> int:
    """``LETTERS PATH LS…``: run Linux's ls, then print what LETTERS ask for."""
    letters, path, *words = argv
    done = subprocess.run(
        ["ls", *words[1:]],  # noqa: S607 – as it names itself
        executable=words[0],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    if done.returncode:
        sys.stderr.write(re.sub(r"(?m)^(\w+): cannot [a-z ]+ '(.*)': ", r"\1: \2: ", done.stderr))
        return 1
    there = attributes.read(path, follow=False)
    print(_line(done.stdout, there, "O" in letters), end="")
    if "@" in letters:
        for name, value in there.xattrs.items():
            print(f"\t{name}\t{len(value):5} ")
    if "e" in letters:
        for number, entry in enumerate(there.acl):
            print(f" {number}: {entry}")
    return 0


def _line(line: str, there: attributes.Attributes, with_flags: bool) -> str:
    match = LINE.fullmatch(line)
    if not match:
        return line
    mode, links, owner, group, rest = match.groups()
    suffix = "@" if there.xattrs else "+" if there.acl else " "
    flags = f"{show(there.flags)} " if with_flags else ""
    return f"{mode}{suffix} {links} {owner}  {group}  {flags}{rest}"
