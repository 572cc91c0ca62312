"""zfs(8) of OpenZFS on OS X: reads the properties of a pool's root dataset and changes nothing."""

from __future__ import annotations

import sys

from .. import bsd_getopt, o3x
from ..kernel_client import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..records import PoolRecord

ON_OFF = ("on", "off")
# Properties of a new dataset, each with its levels, the default first
SETTABLE = {
    "casesensitivity": ("sensitive", "insensitive", "mixed"), "normalization": ("none", "formC", "formD", "formKC"),
    "compression": ("on", "off", "lz4", "lzjb", "zle", "gzip", *(f"gzip-{level}" for level in range(1, 10)), "zstd",
                    *(f"zstd-{level}" for level in range(1, 20))),
    "atime": ON_OFF, "setuid": ON_OFF, "devices": ON_OFF, "com.apple.mimic": ("off", "hfs"),
    "com.apple.devdisk": ("poolonly", "on", "off"),
}  # fmt: skip
DEFAULTS = {name: levels[0] for name, levels in SETTABLE.items()}
USAGE = """\
missing property argument
usage:
\tget [-rHp] [-d max] [-o "all" | field[,...]] [-t type[,...]] [-s source[,...]] <"all" | property[,...]>

The following properties are supported:

\tPROPERTY       EDIT  INHERIT   VALUES
"""


def main(argv: list[str]) -> int:
    """The command."""
    verbs = {"get": _get, "version": version}
    if not argv:
        bsd_getopt.fail_with_usage("usage: zfs command args ...", 2)
    if argv[0] not in verbs:
        bsd_getopt.fail_as_not_emulated("zfs", argv[0])
    return verbs[argv[0]](argv[1:])


def version(words: list[str]) -> int:
    """Print the version of the programs and of the kernel's part."""
    print(f"zfs-{o3x.VERSION}\nzfs-kmod-{o3x.VERSION}")
    return 0


def _get(words: list[str]) -> int:
    """``-Hp PROPERTY,… POOL``; without words, print the usage with all properties."""
    if not words:
        rows = "".join(f"\t{name:<14}  YES      YES   {' | '.join(levels)}\n" for name, levels in SETTABLE.items())
        bsd_getopt.fail_with_usage(USAGE + rows, 2)
    names = words[1].split(",") if len(words) == 3 else []
    if not names or words[0] != "-Hp" or set(names) - SETTABLE.keys():
        bsd_getopt.fail_as_not_emulated("zfs", f"get {' '.join(words)}")
    pools: list[PoolRecord] = call("pools")
    for pool in pools:
        if pool["name"] == words[2]:
            values = pool["properties"]
            print("".join(f"{words[2]}\t{name}\t{values[name]}\tlocal\n" for name in names), end="")
            return 0
    print(f"cannot open '{words[2]}': dataset does not exist", file=sys.stderr)
    return 1
