"""What is mounted: the table that mount(8) prints, in order of mounting."""

import errno
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..records import MountRecord
from .system_calls import Caller, Kernel, at_boot, system_call

FORCED = Path("/linux/run/emulated_mac_forced_unmounts")  # a line for each unmount by force


@dataclass(frozen=True)
class Mount:
    """One mount. ``undo(force)`` unmounts it on the Linux below, or raises OSError (EBUSY)."""

    source: str
    target: str
    type: str
    flags: tuple[str, ...]
    uid: int
    undo: Callable[[bool], None]


class MountTable(list[Mount]):
    """All mounts of the Mac."""


def table(kernel: Kernel) -> MountTable:
    """All mounts of the Mac."""
    return kernel.part(MountTable)


@at_boot
def mount_own_volumes(kernel: Kernel) -> None:
    """Add the mounts that a Mac of this version has after its boot (seen on macOS 10.6, 10.13, 10.15, 15)."""
    number = kernel.profile.number

    def refuse(force: bool) -> None:
        raise OSError(errno.EBUSY, "Resource busy")

    def add(source: str, target: str, type_: str, *flags: str) -> None:
        table(kernel).append(Mount(source, target, type_, flags, 0, refuse))

    if number < (10, 13):
        add("/dev/disk0s2", "/", "hfs", "local", "journaled")
    elif number < (10, 15):
        add("/dev/disk1s1", "/", "apfs", "local", "journaled")
    elif number < (11,):
        add("/dev/disk1s5", "/", "apfs", "local", "read-only", "journaled")
    else:
        add("/dev/disk3s1s1", "/", "apfs", "sealed", "local", "read-only", "journaled")
    add("devfs", "/dev", "devfs", "local", *(["nobrowse"] if number >= (10, 9) else []))
    if number >= (10, 15):
        source = "/dev/disk1s1" if number < (11,) else "/dev/disk3s5"
        protected = ["protect"] if number >= (11,) else []
        add(source, "/System/Volumes/Data", "apfs", "local", "journaled", "nobrowse", *protected)


@system_call
def mounts(kernel: Kernel, caller: Caller) -> list[MountRecord]:
    """The table, for programs to print."""
    return [
        {"source": mount.source, "target": mount.target, "type": mount.type, "flags": mount.flags, "uid": mount.uid}
        for mount in table(kernel)
    ]


@system_call
def unmount(kernel: Kernel, caller: Caller, target: str, force: bool) -> None:
    """Unmount the last mount at ``target``; only its user and root may. EINVAL if nothing is mounted there."""
    mount = next((mount for mount in reversed(table(kernel)) if mount.target == target), None)
    if mount is None:
        raise OSError(errno.EINVAL, "not currently mounted")
    if caller.uid not in (0, mount.uid):
        raise OSError(errno.EPERM, "Operation not permitted")
    if not force and kernel.fault("unmount-busy"):
        raise OSError(errno.EBUSY, "Resource busy")
    if force:
        with FORCED.open("a", encoding="utf-8") as file:
            file.write(f"{target}\n")
    mount.undo(force)
    table(kernel).remove(mount)
