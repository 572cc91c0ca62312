"""Disk images, of memory and in files, their devices, and the volumes on them.

A volume is a file system in memory at a hidden place, so that it outlives an unmount as one on a disk does; mounting it
shows it at its mount point.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from .. import linux_syscalls
from ..records import DiskRecord, ImageDevice, ImageRecord
from . import mounts
from .system_calls import Caller, Kernel, system_call

SECTOR_BYTES = 512
HIDDEN = Path("/linux/run/emulated_mac.volumes")
OVERHEAD = 0.02  # of a device: the catalog, allocation file and journal of HFS+ take about so much
APFS_CONTAINER, APFS_VOLUME = "EF57347C-0000-11AA-AA11-00306543ECAC", "41504653-0000-11AA-AA11-00306543ECAC"
MIN_APFS_BYTES = 8 * 1024 * 1024


@dataclass
class Volume:
    """A formatted disk; ``device`` is where it is mounted from: ``disk4``, or ``disk5s1`` of an APFS container."""

    device: str
    type: str
    name: str
    case_sensitive: bool
    journaled: bool = False
    mounted_at: str = ""


@dataclass
class Disk:
    """An image that is attached; ``device`` is its name without ``/dev/``, ``path`` its file, or ``ram://SECTORS``."""

    device: str
    path: str
    sectors: int
    uid: int
    pid: int
    volume: Volume | None = None
    synthesized: list[str] = field(default_factory=list)  # the APFS container and its volume

    @property
    def size_bytes(self) -> int:
        """The size of the device."""
        return self.sectors * SECTOR_BYTES


class DiskTable(list[Disk]):
    """All images that are attached; ``used`` are files that once were, with a volume on them, by device and inode."""

    def __init__(self) -> None:
        super().__init__()
        self.used: set[tuple[int, int]] = set()


def disks(kernel: Kernel) -> DiskTable:
    """All images that are attached."""
    return kernel.part(DiskTable)


def _next_device(kernel: Kernel) -> str:
    """The first name that is free: numbers below belong to the Mac's own disk."""
    number = kernel.profile.number
    first = 1 if number < (10, 13) else 2 if number < (11,) else 4
    taken = {name for disk in disks(kernel) for name in (disk.device, *disk.synthesized)}
    return next(f"disk{index}" for index in range(first, 1000) if f"disk{index}" not in taken)


def _make_nodes(device: str, uid: int) -> None:
    """Make the block and the character device; they have no driver, so that stat(2) works and open(2) fails."""
    for prefix, kind in (("", stat.S_IFBLK), ("r", stat.S_IFCHR)):
        path = f"/dev/{prefix}{device}"
        os.mknod(path, 0o640 | kind, 0)
        os.chown(path, uid, 80 if uid == 0 else 20)


def _remove_nodes(device: str) -> None:
    for prefix in ("", "r"):
        Path(f"/dev/{prefix}{device}").unlink(missing_ok=True)


def _find_disk(kernel: Kernel, device: str) -> Disk:
    """The image of a device, or of the volume on it. ENXIO where there is none."""
    for disk in disks(kernel):
        if device == disk.device or device in disk.synthesized:
            return disk
    raise OSError(errno.ENXIO, "No such device or address")


def _find_own_disk(kernel: Kernel, caller: Caller, device: str) -> Disk:
    """The image of a device, for its owner and root alone. EACCES for anybody else, ENXIO where there is none."""
    disk = _find_disk(kernel, device)
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
    """Attach an image in a file; its device belongs to the caller.

    EBUSY where it is attached already; EAGAIN with the fault ``attach-busy``; ENOTSUP for one that had a volume when it
    was detached, for a volume is in memory here and went with it.
    """
    if kernel.fault("attach-busy"):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
    if any(disk.path == path for disk in disks(kernel)):
        raise OSError(errno.EBUSY, "Resource busy")
    if _identity(path) in disks(kernel).used:
        raise OSError(errno.ENOTSUP, "Operation not supported")
    return _attach(kernel, caller, path, sectors)


def _attach(kernel: Kernel, caller: Caller, path: str, sectors: int) -> str:
    disk = Disk(_next_device(kernel), path, sectors, caller.uid, os.getpid())
    _make_nodes(disk.device, caller.uid)
    disks(kernel).append(disk)
    return disk.device


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116
    return found.st_dev, found.st_ino


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
    synthesized: list[ImageDevice] = [
        {"device": device, "hint": hint, "mounted_at": mounted_at if hint == APFS_VOLUME else ""}
        for device, hint in zip(disk.synthesized, (APFS_CONTAINER, APFS_VOLUME), strict=False)
    ]
    return [{"device": disk.device, "hint": "", "mounted_at": ""}, *synthesized]


@system_call
def disk_info(kernel: Kernel, caller: Caller, device: str) -> DiskRecord:
    """The facts of a device. ENXIO where there is none."""
    return _describe(_find_disk(kernel, device), device)


def _describe(disk: Disk, device: str) -> DiskRecord:
    volume = disk.volume if disk.volume and disk.volume.device == device else None
    return {
        "device": device, "image": disk.device, "size_bytes": disk.size_bytes, "uid": disk.uid,
        "type": volume.type if volume else "", "name": volume.name if volume else "",
        "mounted_at": volume.mounted_at if volume else "", "case_sensitive": bool(volume and volume.case_sensitive),
        "journaled": bool(volume and volume.journaled),
    }  # fmt: skip


@system_call
def make_hfs(
    kernel: Kernel, caller: Caller, device: str, name: str, case_sensitive: bool, journaled: bool
) -> DiskRecord:
    """Make HFS+ on an image, or make it anew. EACCES for anybody but its owner, EBUSY where it is mounted."""
    disk = _clear_own_disk(kernel, caller, device)
    _make_volume(disk, caller, Volume(device, "hfs", name, case_sensitive, journaled))
    return _describe(disk, device)


@system_call
def make_container(kernel: Kernel, caller: Caller, device: str) -> str:
    """Make an APFS container on an image: a disk of its own, which is returned. As :func:`make_hfs`; ENOSPC."""
    disk = _clear_own_disk(kernel, caller, device)
    if disk.size_bytes < MIN_APFS_BYTES:
        raise OSError(errno.ENOSPC, "No space left on device")
    disk.synthesized = [_next_device(kernel)]
    _make_nodes(disk.synthesized[0], caller.uid)
    return disk.synthesized[0]


@system_call
def add_volume(kernel: Kernel, caller: Caller, container: str, name: str, case_sensitive: bool) -> DiskRecord:
    """Make the volume of an APFS container. EACCES, ENXIO; EEXIST for a second one, which is not emulated."""
    disk = _find_own_disk(kernel, caller, container)
    if disk.volume or container not in disk.synthesized:
        raise OSError(errno.EEXIST if disk.volume else errno.ENXIO, "no place for a volume")
    device = f"{container}s1"
    disk.synthesized.append(device)
    _make_nodes(device, caller.uid)
    _make_volume(disk, caller, Volume(device, "apfs", name, case_sensitive))
    return _describe(disk, device)


def _clear_own_disk(kernel: Kernel, caller: Caller, device: str) -> Disk:
    """Remove the volume from an image of the caller's. EBUSY where it is mounted; EACCES, ENXIO."""
    disk = _find_own_disk(kernel, caller, device)
    if disk.volume and disk.volume.mounted_at:
        raise OSError(errno.EBUSY, "Resource busy")
    _remove_volume(disk)
    return disk


def _make_volume(disk: Disk, caller: Caller, volume: Volume) -> None:
    disk.volume = volume
    folder = HIDDEN / disk.device
    folder.mkdir(parents=True, exist_ok=True)
    linux_syscalls.mount_memory(str(folder), int(disk.size_bytes * (1 - OVERHEAD)))
    os.chown(folder, caller.uid, 20 if caller.uid else 0)


def _remove_volume(disk: Disk) -> None:
    if disk.volume:
        linux_syscalls.unmount(str(HIDDEN / disk.device), force=True)
    for device in disk.synthesized:
        _remove_nodes(device)
    disk.volume, disk.synthesized = None, []


@system_call
def mount_volume(kernel: Kernel, caller: Caller, device: str, type: str, target: str, flags: list[str]) -> None:
    """Mount a volume at a folder, as mount(2) does.

    Its device must be the caller's (EACCES), and so must the folder unless that is root's caller (EPERM). EBUSY where
    it is mounted, EINVAL where the device has no file system of this type.
    """
    disk = _find_own_disk(kernel, caller, device)
    if disk.volume is None or disk.volume.device != device or disk.volume.type != type:
        raise OSError(errno.EINVAL, "Invalid argument")
    if disk.volume.mounted_at:
        raise OSError(errno.EBUSY, "Resource busy")
    if caller.uid and os.stat(target).st_uid != caller.uid:  # noqa: PTH116
        raise OSError(errno.EPERM, "Operation not permitted")
    _mount_at(kernel, caller, disk, disk.volume, target, flags)


@system_call
def mount_in_volumes(kernel: Kernel, caller: Caller, device: str) -> str:
    """Mount a volume below /Volumes, as Disk Arbitration does; returns where: at ``NAME 1`` where NAME is taken."""
    disk = _find_own_disk(kernel, caller, device)
    if disk.volume is None or disk.volume.device != device:
        raise OSError(errno.EINVAL, "Invalid argument")
    if disk.volume.mounted_at:
        return disk.volume.mounted_at
    target = Path("/Volumes", disk.volume.name)
    if kernel.fault("volume-clash") and not target.exists():
        target.mkdir()
    number = 0
    while target.exists():
        number += 1
        target = Path("/Volumes", f"{disk.volume.name} {number}")
    target.mkdir()
    _mount_at(kernel, caller, disk, disk.volume, str(target), ["noowners"])
    return str(target)


def _mount_at(kernel: Kernel, caller: Caller, disk: Disk, volume: Volume, target: str, flags: list[str]) -> None:
    # a user's mount has neither devices nor set-user-id (xnu: vfs_syscalls.c)
    flags = ["local", *(["nodev", "nosuid"] if caller.uid else []), *flags]
    if volume.type == "apfs" or volume.journaled:
        flags.append("journaled")
    linux_syscalls.bind_mount(str(HIDDEN / disk.device), target, tuple(flags))
    volume.mounted_at = target
    undo = partial(_take_off, volume, target)
    source = f"/dev/{volume.device}"
    mounts.table(kernel).append(mounts.Mount(source, target, volume.type, tuple(flags), caller.uid, undo))


def _take_off(volume: Volume, target: str, force: bool) -> None:
    linux_syscalls.unmount(target, force)
    volume.mounted_at = ""
    if target.startswith("/Volumes/"):
        Path(target).rmdir()


@system_call
def unmount_device(kernel: Kernel, caller: Caller, device: str, force: bool) -> str:
    """Unmount the volume of a device; returns its mount point, empty where it had none. EBUSY where in use, EPERM."""
    return _unmount(kernel, caller, _find_disk(kernel, device), force)


def _unmount(kernel: Kernel, caller: Caller, disk: Disk, force: bool) -> str:
    if disk.volume is None or not disk.volume.mounted_at:
        return ""
    target = disk.volume.mounted_at
    mounts.unmount(kernel, caller, target, force)
    return target


@system_call
def eject(kernel: Kernel, caller: Caller, device: str, force: bool) -> str:
    """Unmount and detach an image, by any of its devices; returns its mount point. EBUSY, EPERM, ENXIO."""
    disk = _find_disk(kernel, device)
    if caller.uid not in (0, disk.uid):
        raise OSError(errno.EPERM, "Operation not permitted")
    if not force and kernel.fault("eject-busy"):
        raise OSError(errno.EBUSY, "Resource busy")
    target = _unmount(kernel, caller, disk, force)
    if disk.volume and not disk.path.startswith("ram://"):
        disks(kernel).used.add(_identity(disk.path))
    _remove_volume(disk)
    _remove_nodes(disk.device)
    disks(kernel).remove(disk)
    return target
