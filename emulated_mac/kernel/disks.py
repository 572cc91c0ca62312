"""Disk images, of memory and in files, and their devices; for the volumes on them see :mod:`.volumes`."""

import errno
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from ..records import DiskRecord, ImageDevice, ImageRecord
from .system_calls import Caller, Kernel, system_call

SECTOR_BYTES = 512
ZFS_PARTITION = "ZFS"  # hdiutil's name for it
APFS_CONTAINER, APFS_VOLUME = "EF57347C-0000-11AA-AA11-00306543ECAC", "41504653-0000-11AA-AA11-00306543ECAC"


@dataclass
class Volume:
    """A formatted disk. ``device`` is the device to mount: ``disk4``, or ``disk5s1`` in an APFS container."""

    device: str
    type: str
    name: str
    case_sensitive: bool
    journaled: bool = False
    mounted_at: str = ""
    pool: str = ""
    """The imported ZFS pool that keeps the device busy."""
    shown_as: str = ""
    """The type in the table of mounts, if different."""


@dataclass
class Disk:
    """An attached image; ``device`` is its name without ``/dev/``, ``path`` its file or ``ram://SECTORS``."""

    device: str
    path: str
    sectors: int
    uid: int
    pid: int
    volume: Volume | None = None
    synthesized: list[str] = field(default_factory=list)  # the APFS container and its volume, or the partition of ZFS

    @property
    def size_bytes(self) -> int:
        """The size of the device."""
        return self.sectors * SECTOR_BYTES


class DiskTable(list[Disk]):
    """All attached images. ``used`` has the files, by device and inode, that were detached with a volume on them."""

    def __init__(self) -> None:
        super().__init__()
        self.used: set[tuple[int, int]] = set()


def disks(kernel: Kernel) -> DiskTable:
    """All images that are attached."""
    return kernel.part(DiskTable)


def next_device(kernel: Kernel) -> str:
    """The first free name; lower numbers belong to the Mac's own disk."""
    number = kernel.profile.number
    first = 1 if number < (10, 13) else 2 if number < (11,) else 4
    taken = {name for disk in disks(kernel) for name in (disk.device, *disk.synthesized)}
    return next(f"disk{index}" for index in range(first, 1000) if f"disk{index}" not in taken)


def make_nodes(device: str, uid: int) -> None:
    """Make the block and the character device. They have no driver: stat(2) works, open(2) fails."""
    for prefix, kind in (("", stat.S_IFBLK), ("r", stat.S_IFCHR)):
        path = f"/dev/{prefix}{device}"
        os.mknod(path, 0o640 | kind, 0)
        os.chown(path, uid, 80 if uid == 0 else 20)


def remove_nodes(device: str) -> None:
    """Remove both devices."""
    for prefix in ("", "r"):
        Path(f"/dev/{prefix}{device}").unlink(missing_ok=True)


def find_disk(kernel: Kernel, device: str) -> Disk:
    """The image of a device or of its volume. ENXIO if none is attached."""
    for disk in disks(kernel):
        if device == disk.device or device in disk.synthesized:
            return disk
    raise OSError(errno.ENXIO, "No such device or address")


def find_own_disk(kernel: Kernel, caller: Caller, device: str) -> Disk:
    """The image of a device if the caller is its owner or root, else EACCES. ENXIO if none is attached."""
    disk = find_disk(kernel, device)
    if caller.uid not in (0, disk.uid):
        raise OSError(errno.EACCES, "Permission denied")
    return disk


@system_call
def attach_ram(kernel: Kernel, caller: Caller, sectors: int) -> str:
    """Attach a RAM image; its device belongs to the caller. ENOMEM; EAGAIN with the fault ``attach-busy``."""
    if kernel.fault("attach-busy"):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
    if sectors * SECTOR_BYTES > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")
    return _attach(kernel, caller, f"ram://{sectors}", sectors)


@system_call
def attach_file(kernel: Kernel, caller: Caller, path: str, sectors: int) -> str:
    """Attach an image in a file; its device belongs to the caller. EBUSY if it is attached already; EAGAIN with the
    fault ``attach-busy``. ENOTSUP if it had a volume when it was detached: volumes are in memory here and are lost
    then.
    """
    if kernel.fault("attach-busy"):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
    if any(disk.path == path for disk in disks(kernel)):
        raise OSError(errno.EBUSY, "Resource busy")
    if identity(path) in disks(kernel).used:
        raise OSError(errno.ENOTSUP, "Operation not supported")
    return _attach(kernel, caller, path, sectors)


def _attach(kernel: Kernel, caller: Caller, path: str, sectors: int) -> str:
    disk = Disk(next_device(kernel), path, sectors, caller.uid, os.getpid())
    make_nodes(disk.device, caller.uid)
    disks(kernel).append(disk)
    return disk.device


def identity(path: str) -> tuple[int, int]:
    """Device and inode: they identify a file under any name."""
    status = os.stat(path)  # noqa: PTH116
    return status.st_dev, status.st_ino


@system_call
def images(kernel: Kernel, caller: Caller) -> list[ImageRecord]:
    """All images that are attached."""
    return [
        {
            "path": disk.path, "sectors": disk.sectors, "uid": disk.uid, "pid": disk.pid, "devices": _devices(disk)
        }
        for disk in disks(kernel)
    ]  # fmt: skip


def _devices(disk: Disk) -> list[ImageDevice]:
    mounted_at = disk.volume.mounted_at if disk.volume else ""
    if not disk.synthesized:
        return [{"device": disk.device, "hint": "", "mounted_at": mounted_at}]
    if disk.synthesized == [f"{disk.device}s1"]:
        return [
            {"device": disk.device, "hint": "GUID_partition_scheme", "mounted_at": ""},
            {"device": disk.synthesized[0], "hint": ZFS_PARTITION, "mounted_at": ""},
        ]
    synthesized: list[ImageDevice] = [
        {"device": device, "hint": hint, "mounted_at": mounted_at if hint == APFS_VOLUME else ""}
        for device, hint in zip(disk.synthesized, (APFS_CONTAINER, APFS_VOLUME), strict=False)
    ]
    return [{"device": disk.device, "hint": "", "mounted_at": ""}, *synthesized]


@system_call
def disk_info(kernel: Kernel, caller: Caller, device: str) -> DiskRecord:
    """The facts of a device. ENXIO if it does not exist."""
    return describe(find_disk(kernel, device), device)


def describe(disk: Disk, device: str) -> DiskRecord:
    """The facts of one device of an image."""
    volume = disk.volume if disk.volume and disk.volume.device == device else None
    return {
        "device": device, "image": disk.device, "size_bytes": disk.size_bytes, "uid": disk.uid,
        "type": volume.type if volume else "", "name": volume.name if volume else "",
        "mounted_at": volume.mounted_at if volume else "", "case_sensitive": bool(volume and volume.case_sensitive),
        "journaled": bool(volume and volume.journaled),
    }  # fmt: skip
