"""bonnie++ 2.00: twelve tests of a file system, on the host that has it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lab.base.errors import Unsupported
from lab.design.payload_size import MIB
from lab.hosts import Host

NAME = "bonnie++"
PROGRAMS: Mapping[str, str] = MappingProxyType({NAME: NAME})  # with its package in Debian
VERSION = re.compile(r"^Version: (\S{1,20})", re.MULTILINE)
KNOWN = "2.00"
THOUSANDS_OF_FILES = 16  # bonnie++'s own default, which the posts of 2011 and 2015 have, too: 16 × 1024
FILES = THOUSANDS_OF_FILES * 1024
PASSES = 6  # over the file, about: byte by byte, by blocks and again, each written or read
TIMES_MEMORY = 2  # a file of less fits so far into memory that the disk is not what is measured


def check(host: Host, call: Sequence[str]) -> None:
    """Raise Unsupported for another version than 2.00, whose line may mean something else."""
    printed = host.run(*call, "-h", check=False)  # no option of it, so that it prints its usage
    match = VERSION.search(printed.stderr + printed.stdout)
    if not match or not match[1].startswith(KNOWN):
        version = f"is version {match[1]}" if match else "does not say its version"
        raise Unsupported(
            f"bonnie++ {version}, and the lab knows {KNOWN} only",
            f"install bonnie++ {KNOWN} there, or take it out of store_tools in the sweep",
            host=host.name,
        )


def file_bytes(asked: int | None, memory_bytes: int) -> int:
    """Bytes of its file: those asked for, or twice the memory; whole MiB, of which bonnie++ counts its size in."""
    return -(-(asked or TIMES_MEMORY * memory_bytes) // MIB) * MIB


def is_cached(size_bytes: int, memory_bytes: int) -> bool:
    """Whether a file of this size fits so far into memory that the disk alone is not what is measured."""
    return size_bytes < TIMES_MEMORY * memory_bytes


@dataclass(frozen=True)
class Options:
    """``with_fsync``: it flushes what it wrote, and each small file (``-b``). Without ``per_byte`` it leaves out what
    asks for single bytes (``-f``).
    """

    with_fsync: bool = False
    per_byte: bool = True


USUAL = Options()


def argv(call: Sequence[str], folder: str, size_bytes: int, as_root: bool, options: Options = USUAL) -> tuple[str, ...]:
    """The command that tests in ``folder``, which must be one of the lab's own: bonnie++ makes and removes files there.

    It refuses root unless that is said, and a file that fits into memory unless it is not to look (``-r 0``).
    """
    account = ("-u", "root") if as_root else ()
    size = ("-s", str(size_bytes // MIB), "-r", "0", "-n", str(THOUSANDS_OF_FILES))
    tests = [*(["-b"] if options.with_fsync else []), *([] if options.per_byte else ["-f"])]
    return (*call, "-d", folder, *size, "-m", "lab", "-q", *tests, *account)
