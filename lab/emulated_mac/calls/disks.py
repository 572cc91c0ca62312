"""RAM disks: images of memory, their devices, and the volumes on them.

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
from typing import Any

from .. import linux_mounts
from ..kernel import Caller, Kernel, call
from . import mounts

SECTOR_BYTES = 512
HIDDEN = Path("/linux/run/darwin.volumes")
# Of a volume's device its own structures take some: catalog, allocation and journal of HFS+ about 2 %.
OWN_SHARE = 0.02
APFS_CONTAINER, APFS_VOLUME = "EF57347C-0000-11AA-AA11-00306543ECAC", "41504653-0000-11AA-AA11-00306543ECAC"
LEAST_APFS_BYTES = 8 * 1024 * 1024


@dataclass
class Volume:
    """A formatted disk; ``device`` is where it is mounted from: ``disk4``, or ``disk5s1`` of an APFS container."""

    device: str
    type: str
    name: str
    case_sensitive: bool
    mounted_at: str = ""


@dataclass
class Disk:
    """A RAM image; ``device`` is its name without ``/dev/``."""

    device: str
    sectors: int
    uid: int
    pid: int
    volume: Volume | None = None
    synthesized: list[str] = field(default_factory=list)  # the APFS container and its volume

    @property
    def size_bytes(self) -> int:
        """Of the device."""
        return self.sectors * SECTOR_BYTES


def disks(kernel: Kernel) -> list[Disk]:
    """All RAM images."""
    found: list[Disk] = kernel.parts.setdefault("disks", [])
    return found


def _next_device(kernel: Kernel) -> str:
    """The first number that is free above those of the Mac's own disk."""
    number = kernel.profile.number
    first = 1 if number < (10, 13) else 2 if number < (11,) else 4
    taken = {name for disk in disks(kernel) for name in (disk.device, *disk.synthesized)}
    return next(f"disk{index}" for index in range(first, 1000) if f"disk{index}" not in taken)


def _make_nodes(device: str, uid: int) -> None:
    """The block and the character device: they can be looked at and, having no driver, not opened."""
    for prefix, kind in (("", stat.S_IFBLK), ("r", stat.S_IFCHR)):
        path = f"/dev/{prefix}{device}"
        os.mknod(path, 0o640 | kind, 0)
        os.chown(path, uid, 80 if uid == 0 else 20)


def _remove_nodes(device: str) -> None:
    for prefix in ("", "r"):
        Path(f"/dev/{prefix}{device}").unlink(missing_ok=True)


def _find(kernel: Kernel, device: str) -> Disk:
    """The image of a device, or of the volume on it. ENXIO where there is none."""
    for disk in disks(kernel):
        if device == disk.device or device in disk.synthesized:
            return disk
    raise OSError(errno.ENXIO, "No such device or address")


def _owned(kernel: Kernel, caller: Caller, device: str) -> Disk:
    """The same, for its owner and root alone. EACCES."""
    disk = _find(kernel, device)
    if caller.uid not in (0, disk.uid):
        raise OSError(errno.EACCES, "Permission denied")
    return disk


@call
def attach_ram(kernel: Kernel, caller: Caller, sectors: int) -> str:
    """Attach a RAM image; its device belongs to the caller. EAGAIN where it does not come about, ENOMEM."""
    if kernel.fault("attach-busy"):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
    if sectors * SECTOR_BYTES > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")
    disk = Disk(_next_device(kernel), sectors, caller.uid, os.getpid())
    _make_nodes(disk.device, caller.uid)
    disks(kernel).append(disk)
    return disk.device


@call
def images(kernel: Kernel, caller: Caller) -> list[dict[str, Any]]:
    """All RAM images: sectors, uid, pid, and devices with where they are mounted; hints are types of partitions."""
    return [
        {"sectors": disk.sectors, "uid": disk.uid, "pid": disk.pid, "devices": _devices(disk)} for disk in disks(kernel)
    ]


def _devices(disk: Disk) -> list[dict[str, str]]:
    mounted = disk.volume.mounted_at if disk.volume else ""
    if not disk.synthesized:
        return [{"device": disk.device, "hint": "", "mounted_at": mounted}]
    made_up = [
        {"device": device, "hint": hint, "mounted_at": mounted if hint == APFS_VOLUME else ""}
        for device, hint in zip(disk.synthesized, (APFS_CONTAINER, APFS_VOLUME), strict=False)
    ]
    return [{"device": disk.device, "hint": "", "mounted_at": ""}, *made_up]


@call
def disk_info(kernel: Kernel, caller: Caller, device: str) -> dict[str, Any]:
    """What is known of a device. ENXIO where there is none."""
    return _describe(_find(kernel, device), device)


def _describe(disk: Disk, device: str) -> dict[str, Any]:
    volume = disk.volume if disk.volume and disk.volume.device == device else None
    return {
        "device": device, "image": disk.device, "size_bytes": disk.size_bytes, "uid": disk.uid,
        "type": volume.type if volume else "", "name": volume.name if volume else "",
        "mounted_at": volume.mounted_at if volume else "", "case_sensitive": bool(volume and volume.case_sensitive),
    }  # fmt: skip


@call
def make_hfs(kernel: Kernel, caller: Caller, device: str, name: str, case_sensitive: bool) -> dict[str, Any]:
    """Make HFS+ on an image, or make it anew. EACCES for anybody but its owner, EBUSY where it is mounted."""
    disk = _cleared(kernel, caller, device)
    _make_volume(disk, caller, Volume(device, "hfs", name, case_sensitive))
    return _describe(disk, device)


@call
def make_container(kernel: Kernel, caller: Caller, device: str) -> str:
    """Make an APFS container on an image: a disk of its own, which is returned. As :func:`make_hfs`; ENOSPC."""
    disk = _cleared(kernel, caller, device)
    if disk.size_bytes < LEAST_APFS_BYTES:
        raise OSError(errno.ENOSPC, "No space left on device")
    disk.synthesized = [_next_device(kernel)]
    _make_nodes(disk.synthesized[0], caller.uid)
    return disk.synthesized[0]


@call
def add_volume(kernel: Kernel, caller: Caller, container: str, name: str, case_sensitive: bool) -> dict[str, Any]:
    """Make the volume of an APFS container. EACCES, ENXIO; EEXIST for a second one, which is not emulated."""
    disk = _owned(kernel, caller, container)
    if disk.volume or container not in disk.synthesized:
        raise OSError(errno.EEXIST if disk.volume else errno.ENXIO, "no place for a volume")
    device = f"{container}s1"
    disk.synthesized.append(device)
    _make_nodes(device, caller.uid)
    _make_volume(disk, caller, Volume(device, "apfs", name, case_sensitive))
    return _describe(disk, device)


def _cleared(kernel: Kernel, caller: Caller, device: str) -> Disk:
    """An image of the caller's without what was on it. EBUSY where that is mounted."""
    disk = _owned(kernel, caller, device)
    if disk.volume and disk.volume.mounted_at:
        raise OSError(errno.EBUSY, "Resource busy")
    _forget_volume(disk)
    return disk


def _make_volume(disk: Disk, caller: Caller, volume: Volume) -> None:
    disk.volume = volume
    place = HIDDEN / disk.device
    place.mkdir(parents=True, exist_ok=True)
    linux_mounts.memory(str(place), int(disk.size_bytes * (1 - OWN_SHARE)))
    os.chown(place, caller.uid, 20 if caller.uid else 0)


def _forget_volume(disk: Disk) -> None:
    if disk.volume:
        linux_mounts.unmount(str(HIDDEN / disk.device), force=True)
    for device in disk.synthesized:
        _remove_nodes(device)
    disk.volume, disk.synthesized = None, []


@call
def mount_volume(kernel: Kernel, caller: Caller, device: str, type: str, target: str, flags: list[str]) -> None:
    """Mount a volume at a folder, as mount(2) does.

    Its device must be the caller's (EACCES), and so must the folder unless that is root's caller (EPERM). EBUSY where
    it is mounted, EINVAL where the device has no file system of this type.
    """
    disk = _owned(kernel, caller, device)
    if disk.volume is None or disk.volume.device != device or disk.volume.type != type:
        raise OSError(errno.EINVAL, "Invalid argument")
    if disk.volume.mounted_at:
        raise OSError(errno.EBUSY, "Resource busy")
    if caller.uid and os.stat(target).st_uid != caller.uid:  # noqa: PTH116
        raise OSError(errno.EPERM, "Operation not permitted")
    _show(kernel, caller, disk, target, flags)


@call
def mount_in_volumes(kernel: Kernel, caller: Caller, device: str) -> str:
    """Mount a volume below /Volumes, as Disk Arbitration does; where: ``NAME 1`` where its name is taken."""
    disk = _owned(kernel, caller, device)
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
    _show(kernel, caller, disk, str(target), ["noowners"])
    return str(target)


def _show(kernel: Kernel, caller: Caller, disk: Disk, target: str, flags: list[str]) -> None:
    volume = disk.volume
    assert volume is not None
    # a mount of a user has no devices and no set-user-id (xnu: vfs_syscalls.c)
    flags = ["local", *(["nodev", "nosuid"] if caller.uid else []), *flags]
    if volume.type == "apfs":
        flags.append("journaled")
    linux_mounts.bind(str(HIDDEN / disk.device), target, tuple(flags))
    volume.mounted_at = target
    undo = partial(_hide, volume, target)
    source = f"/dev/{volume.device}"
    mounts.table(kernel).append(mounts.Mount(source, target, volume.type, tuple(flags), caller.uid, undo))


def _hide(volume: Volume, target: str, force: bool) -> None:
    linux_mounts.unmount(target, force)
    volume.mounted_at = ""
    if target.startswith("/Volumes/"):
        Path(target).rmdir()


@call
def unmount_device(kernel: Kernel, caller: Caller, device: str, force: bool) -> str:
    """Unmount what is on a device; where it was, empty where nothing was. EBUSY where it is in use, EPERM."""
    return _unmount(kernel, caller, _find(kernel, device), force)


def _unmount(kernel: Kernel, caller: Caller, disk: Disk, force: bool) -> str:
    if disk.volume is None or not disk.volume.mounted_at:
        return ""
    target = disk.volume.mounted_at
    mounts.unmount(kernel, caller, target, force)
    return target


@call
def eject(kernel: Kernel, caller: Caller, device: str, force: bool) -> str:
    """Unmount and detach an image, by any of its devices; where it was mounted. EBUSY, EPERM, ENXIO."""
    disk = _find(kernel, device)
    if caller.uid not in (0, disk.uid):
        raise OSError(errno.EPERM, "Operation not permitted")
    if not force and kernel.fault("eject-busy"):
        raise OSError(errno.EBUSY, "Resource busy")
    target = _unmount(kernel, caller, disk, force)
    _forget_volume(disk)
    _remove_nodes(disk.device)
    disks(kernel).remove(disk)
    return target
