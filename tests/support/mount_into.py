"""Mounts folders of this machine read-only into the mount namespace of a process: ``PID FOLDER PLACE...``.

A program of its own, because setns(2) refuses processes with threads."""

import ctypes
import os
import sys

# the same on every architecture since Linux 5.2 (open_tree(2), move_mount(2))
OPEN_TREE, MOVE_MOUNT = 428, 429
AT_FDCWD, OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH = -100, 1, 4
CLONE_NEWNS = 0x00020000
MS_RDONLY, MS_REMOUNT, MS_BIND = 1, 32, 4096

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, path: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return result


def mount_into(pid: int, folders: list[str], places: list[str]) -> None:
    """Mount each folder at its place, which exists as process ``pid`` sees it."""
    trees = [_check(_libc.syscall(OPEN_TREE, AT_FDCWD, os.fsencode(name), OPEN_TREE_CLONE), name) for name in folders]
    with open(f"/proc/{pid}/ns/mnt", "rb") as namespace:  # noqa: PTH123
        _check(_libc.setns(namespace.fileno(), CLONE_NEWNS), f"namespace of {pid}")
    for tree, place in zip(trees, places, strict=True):
        path = os.fsencode(place)
        _check(_libc.syscall(MOVE_MOUNT, tree, b"", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH), place)
        _check(_libc.mount(None, path, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None), place)


if __name__ == "__main__":
    mount_into(int(sys.argv[1]), sys.argv[2::2], sys.argv[3::2])
