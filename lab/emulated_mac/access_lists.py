"""Access control lists (chmod(1), ls(1) of macOS): kept as POSIX lists of the Linux below, which does enforce them.

Those have three rights, so an entry here has all of macOS's that one of them stands for, or none. What macOS leaves as
it was, the group's rights in the mode, shows the mask of the list here.
"""

from __future__ import annotations

import os
import pwd
import struct
import sys

NAME = "system.posix_acl_access"  # linux/posix_acl_xattr.h
VERSION, ENTRY = struct.Struct("<I"), struct.Struct("<HHI")
USER_OBJ, USER, GROUP_OBJ, MASK, OTHER = 1, 2, 4, 16, 32
NOBODY = 0xFFFFFFFF
# In the order in which ls prints them for a folder
RIGHTS = {
    "list": 4, "add_file": 2, "search": 1, "delete": 0, "add_subdirectory": 2, "delete_child": 2, "readattr": 4,
    "writeattr": 2, "readextattr": 4, "writeextattr": 2, "readsecurity": 4,
}  # fmt: skip


def main(argv: list[str]) -> int:
    """``-N PATH…``, ``+a ENTRY PATH…``, or ``-e PATH…``: print the entries."""
    act, *words = argv
    try:
        if act == "-N":
            for path in words:
                _write(path, {})
        elif act == "+a":
            uid, bits = _parse(words[0])
            for path in words[1:]:
                _write(path, _read(path) | {uid: bits})
        else:
            for path in words:
                _show(path)
    except OSError as error:
        print(f"chmod: Failed to set ACL on file '{error.filename}': {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _parse(entry: str) -> tuple[int, int]:
    who, _, rest = entry.partition(" allow ")
    kind, _, name = who.rpartition(":")
    rights = rest.split(",")
    if kind not in ("", "user") or not rest or set(rights) - set(RIGHTS):
        sys.exit(f"EMULATED MAC: chmod: {entry!r} is not emulated")
    try:
        uid = pwd.getpwnam(name).pw_uid
    except KeyError:
        print(f"chmod: Unable to translate '{name}' to a UUID: Invalid argument", file=sys.stderr)
        sys.exit(1)
    bits = 0
    for bit in (1, 2, 4):
        needed = {right for right, of in RIGHTS.items() if of == bit}
        if needed & set(rights):
            if needed - set(rights):
                sys.exit(f"EMULATED MAC: chmod: {entry!r} without {sorted(needed - set(rights))} is not emulated")
            bits |= bit
    return uid, bits


def _entries(path: str) -> list[tuple[int, int, int]]:
    try:
        value = os.getxattr(path, NAME)
    except OSError:
        return []
    return list(ENTRY.iter_unpack(value[VERSION.size :]))


def _read(path: str) -> dict[int, int]:
    """The rights by user."""
    return {who: bits for tag, bits, who in _entries(path) if tag == USER}


def _write(path: str, users: dict[int, int]) -> None:
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


def _show(path: str) -> None:
    for number, (uid, bits) in enumerate(sorted(_read(path).items())):
        rights = ",".join(right for right, bit in RIGHTS.items() if bit & bits)
        try:
            name = pwd.getpwuid(uid).pw_name
        except KeyError:
            name = str(uid)
        print(f" {number}: user:{name} allow {rights}")
