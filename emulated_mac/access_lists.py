"""Access control lists (chmod(1), ls(1) of macOS; file_cmds: chmod_acl.c, ls/print.c), kept as ls prints them.

An entry that allows all macOS rights behind r, w or x is also set as a POSIX list on Linux, which enforces it. Other
entries are kept and not enforced. The group's rights in the mode then show the mask of the POSIX list; macOS leaves
them unchanged.
"""

from __future__ import annotations

import grp
import os
import pwd
import struct
import sys

from . import attributes, mac_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

NAME = "system.posix_acl_access"  # linux/posix_acl_xattr.h
VERSION, ENTRY = struct.Struct("<I"), struct.Struct("<HHI")
USER_OBJ, USER, GROUP_OBJ, MASK, OTHER = 1, 2, 4, 16, 32
NOBODY = 0xFFFFFFFF
# The rights of a folder that one of Linux's stands for
RIGHTS = {
    "list": 4, "add_file": 2, "search": 1, "delete": 0, "add_subdirectory": 2, "delete_child": 2, "readattr": 4,
    "writeattr": 2, "readextattr": 4, "writeextattr": 2, "readsecurity": 4,
}  # fmt: skip
# A right has one bit and two names, that of a file and that of a folder; in the order in which ls prints them
NAMES = (
    ("read", "list"), ("write", "add_file"), ("execute", "search"), ("delete", "delete"),
    ("append", "add_subdirectory"), ("", "delete_child"), ("readattr", "readattr"), ("writeattr", "writeattr"),
    ("readextattr", "readextattr"), ("writeextattr", "writeextattr"), ("readsecurity", "readsecurity"),
    ("writesecurity", "writesecurity"), ("chown", "chown"),
)  # fmt: skip
INHERITANCE = (
    ("", "file_inherit"),
    ("", "directory_inherit"),
    ("limit_inherit", "limit_inherit"),
    ("", "only_inherit"),
)


def main(argv: list[str]) -> int:
    """``-N PATH…`` or ``+a ENTRY PATH…``."""
    act, *words = argv
    entry = words.pop(0) if act == "+a" else ""
    for path in words:
        try:
            add = _parse(entry, os.path.isdir(path)) if entry else ""  # noqa: PTH112
            _change(path, _in_order([*attributes.read(path).acl, add]) if add else [])
        except OSError as error:
            text = mac_errors.text(error.errno or 0)
            if act == "-N" and error.errno == 95:  # an object without a list: nothing to remove
                continue
            print(f"chmod: Failed to set ACL on file '{path}': {text}", file=sys.stderr)
            return 1
    return 0


def write(path: str, entries: list[str]) -> None:
    """Set an object's list. Raises OSError: EPERM unless the caller owns the object, ENOTSUP on a share."""
    _change(path, entries)


def _change(path: str, entries: list[str]) -> None:
    attributes.check_owner(path)
    there = attributes.read(path)
    there.acl = entries
    attributes.write(path, there)
    if not attributes.is_on_share(path):
        _enforce(path, dict(filter(None, map(_enforceable, entries))))


def _parse(entry: str, is_folder: bool) -> str:
    """An entry as ls prints it. If chmod would refuse the entry, ends the program with chmod's message."""
    kind, name, verb, rights = _split(entry)
    if verb not in ("allow", "deny"):
        _refuse(f"Unknown tag type '{verb}'" if verb else "Invalid entry format -- expected allow or deny")
    known = {of: number for number, both in enumerate((*NAMES, *INHERITANCE)) for of in both if of}
    chosen = set()
    for right in filter(None, rights.split(",")):
        if right not in known and right != "inherited":
            _refuse(f"Invalid permission type '{right}'")
        chosen.add(known.get(right, -1))
    if not chosen:
        _refuse("No permissions specified")
    shown = [both[is_folder] for number, both in enumerate((*NAMES, *INHERITANCE)) if number in chosen]
    inherited = " inherited" if -1 in chosen else ""
    return f"{kind}:{name}{inherited} {verb} {','.join(filter(None, shown))}"


def _split(entry: str) -> tuple[str, str, str, str]:
    """Split an entry into its owner (user or group, and the name), allow or deny, and the rights."""
    kind, rest = "", entry
    for known in ("user", "group"):
        if entry.startswith(f"{known}:"):
            kind, rest = known, entry[len(known) + 1 :]
    name, _, rest = rest.partition(":" if ":" in rest else " ")
    if not name:
        _refuse("Invalid entry format -- expected user or group name")
    verb, _, rights = rest.replace(":", " ", 1).partition(" ")
    return _kind_of(kind, name), name, verb, rights


def _kind_of(kind: str, name: str) -> str:
    """``user`` or ``group`` for a name without its kind; a user comes first."""
    if kind != "group" and _is_known(pwd.getpwnam, name):
        return "user"
    if kind != "user" and (name == "everyone" or _is_known(grp.getgrnam, name)):
        return "group"
    return _refuse(f"Unable to translate '{name}' to a UUID")


def _is_known(look_up: object, name: str) -> bool:
    try:
        look_up(name)  # type: ignore[operator]
    except KeyError:
        return False
    return True


def _refuse(message: str) -> NoReturn:
    print(f"chmod: {message}", file=sys.stderr)
    sys.exit(1)


def _in_order(entries: list[str]) -> list[str]:
    """Sort: own entries before inherited ones, in each group deny before allow; no duplicates."""
    return sorted(dict.fromkeys(entries), key=lambda entry: (" inherited " in entry, " allow " in entry))


def _enforceable(entry: str) -> tuple[int, int] | None:
    """The user and the bits of an entry that Linux can enforce, else None."""
    who, _, rights = entry.partition(" allow ")
    kind, _, name = who.partition(":")
    if kind != "user" or not rights:
        return None
    chosen, bits = set(rights.split(",")), 0
    for bit in (1, 2, 4):
        if {right for right, of in RIGHTS.items() if of == bit} <= chosen:
            bits |= bit
    try:
        return (pwd.getpwnam(name).pw_uid, bits) if bits else None
    except KeyError:
        return None


def _entries(path: str) -> list[tuple[int, int, int]]:
    try:
        value = os.getxattr(path, NAME)
    except OSError:
        return []
    return list(ENTRY.iter_unpack(value[VERSION.size :]))


def _enforce(path: str, users: dict[int, int]) -> None:
    mode = os.stat(path).st_mode  # noqa: PTH116
    before = {tag: bits for tag, bits, _ in _entries(path) if tag != USER}
    group = before.get(GROUP_OBJ, mode >> 3 & 7)
    if not users:
        if before:
            os.removexattr(path, NAME)
            os.chmod(path, mode & ~0o70 & 0o7777 | group << 3)  # noqa: PTH101
        return
    mask = group
    for bits in users.values():
        mask |= bits
    entries = [
        (USER_OBJ, mode >> 6 & 7, NOBODY), *((USER, bits, uid) for uid, bits in sorted(users.items())),
        (GROUP_OBJ, group, NOBODY), (MASK, mask, NOBODY), (OTHER, mode & 7, NOBODY),
    ]  # fmt: skip
    os.setxattr(path, NAME, VERSION.pack(2) + b"".join(ENTRY.pack(*entry) for entry in entries))
