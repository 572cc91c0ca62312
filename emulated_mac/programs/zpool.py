"""zpool(8) of OpenZFS on OS X. It takes a whole disk by making a partition ``disk4s1`` on it. Pools have one disk.
Other options are refused.
"""

from __future__ import annotations

import sys

from .. import bsd_getopt
from ..disk_names import device_name
from ..kernel_client import call
from . import zfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..records import PoolRecord

# Each with what it takes
POOL = {"cachefile": ("none",), "failmode": ("continue", "wait", "panic"), "ashift": tuple(map(str, range(9, 17)))}
USAGE = "usage: zpool command args ..."


def main(argv: list[str]) -> int:
    """The command."""
    verbs = {
        "list": _list, "get": _get, "create": _create, "destroy": _destroy, "export": _export, "import": _import,
        "version": zfs.version,
    }  # fmt: skip
    if not argv:
        bsd_getopt.fail_with_usage(USAGE, 2)
    if argv[0] not in verbs:
        bsd_getopt.fail_as_not_emulated("zpool", argv[0])
    return verbs[argv[0]](argv[1:])


def _list(words: list[str]) -> int:
    """``-H -o name``, ``-H -o health POOL`` and ``-HvP POOL``."""
    if words == ["-H", "-o", "name"]:
        print("".join(f"{pool['name']}\n" for pool in call("pools")), end="")
        return 0
    if len(words) == 4 and words[:3] == ["-H", "-o", "health"]:
        print(find(words[3])["health"])
        return 0
    if len(words) != 2 or words[0] != "-HvP":
        bsd_getopt.fail_as_not_emulated("zpool", f"list {' '.join(words)}")
    pool = find(words[1])
    sizes = "\t-" * 8
    print(f"{pool['name']}{sizes}\t{pool['health']}\t-\n\t/dev/{pool['device']}{sizes}\t{pool['health']}")
    return 0


def _get(words: list[str]) -> int:
    """``-Hp PROPERTY POOL``: name, property, value and source."""
    if len(words) != 3 or words[0] != "-Hp" or words[1] not in POOL:
        bsd_getopt.fail_as_not_emulated("zpool", f"get {' '.join(words)}")
    value = find(words[2])["properties"].get(words[1])
    print(f"{words[2]}\t{words[1]}\t{value or '0'}\t{'local' if value else 'default'}")
    return 0


def _create(words: list[str]) -> int:
    """``-o`` and ``-O`` with properties, ``-m`` with a folder; then the pool and one disk."""
    options, names = bsd_getopt.parse("zpool create", words, "o:O:m:", USAGE, 2)
    if len(names) != 2:
        bsd_getopt.fail_as_not_emulated("zpool", f"create of {' '.join(names)}")
    properties = dict(zfs.DEFAULTS)
    for letter, word in options:
        if letter != "m":
            name, _, value = word.partition("=")
            _check(letter, name, value)
            properties[name] = value
    if properties["com.apple.devdisk"] != "off":
        bsd_getopt.fail_as_not_emulated("zpool", "create with a disk of its own for the pool (com.apple.devdisk)")
    place = dict(options).get("m", f"/Volumes/{names[0]}")
    try:
        device = device_name(names[1])
        call("create_pool", name=names[0], device=device, mountpoint=place, properties=properties)
    except OSError as error:
        text = {1: "permission denied", 6: f"no such device {names[1]}", 17: "pool already exists"}
        bsd_getopt.fail(f"cannot create '{names[0]}': {text.get(error.errno or 0, error.strerror)}")
    return 0


def _check(letter: str, name: str, value: str) -> None:
    known = POOL if letter == "o" else zfs.SETTABLE
    if name not in known:
        bsd_getopt.fail(f"property '{name}' is not a valid {'pool' if letter == 'o' else 'filesystem'} property")
    if value not in known[name]:
        bsd_getopt.fail(f"cannot create pool: '{name}' must be one of '{' | '.join(known[name])}'")


def _destroy(words: list[str]) -> int:
    return _let_go(words, "destroy")


def _export(words: list[str]) -> int:
    return _let_go(words, "export")


def _let_go(words: list[str], verb: str) -> int:
    if len(words) != 1 or words[0].startswith("-"):
        bsd_getopt.fail_as_not_emulated("zpool", f"{verb} {' '.join(words)}")
    find(words[0])
    try:
        call("let_go_of_pool", name=words[0], destroy=verb == "destroy")
    except OSError as error:
        reason = {1: "permission denied", 16: "pool is busy"}.get(error.errno or 0, error.strerror)
        bsd_getopt.fail(f"cannot {verb} '{words[0]}': {reason}")
    return 0


def _import(words: list[str]) -> int:
    """``-d /dev -o cachefile=none POOL``."""
    if len(words) != 5 or words[:4] != ["-d", "/dev", "-o", "cachefile=none"]:
        bsd_getopt.fail_as_not_emulated("zpool", f"import {' '.join(words)}")
    try:
        call("import_pool", name=words[4])
    except OSError as error:
        bsd_getopt.fail(f"cannot import '{words[4]}': {'permission denied' if error.errno == 1 else 'no such pool'}")
    return 0


def find(name: str) -> PoolRecord:
    """The pool of this name. If there is none, the program ends as on a Mac."""
    pools: list[PoolRecord] = call("pools")
    for pool in pools:
        if pool["name"] == name:
            return pool
    print(f"cannot open '{name}': no such pool", file=sys.stderr)
    raise SystemExit(1)
