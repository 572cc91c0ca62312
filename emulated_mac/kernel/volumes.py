"""The volumes on disk images: made, mounted, taken off.

A volume is a file system in memory at a hidden path. So it survives an unmount, as a volume on a disk does. Mounting
shows it at its mount point.
"""

import errno
import os
from functools import partial
from pathlib import Path

from .. import linux_syscalls
from ..records import DiskRecord
from . import mounts
from .disks import (
    Disk,
    Volume,
    describe,
    disks,
    find_disk,
    find_own_disk,
    identity,
    make_nodes,
    next_device,
    remove_nodes,
)
from .system_calls import Caller, Kernel, system_call

HIDDEN = Path("/linux/run/emulated_mac.volumes")
OVERHEAD = 0.02  # share of a device that HFS+ uses for its catalog, allocation file and journal, roughly
MIN_APFS_BYTES = 8 * 1024 * 1024


@system_call
def make_hfs(
    kernel: Kernel, caller: Caller, device: str, name: str, case_sensitive: bool, journaled: bool
) -> DiskRecord:
    """Make HFS+ on an image, or make it anew. EACCES unless the caller owns the image, EBUSY if it is mounted."""
    disk = _clear_own_disk(kernel, caller, device)
    make_volume(disk, caller, Volume(device, "hfs", name, case_sensitive, journaled))
    return describe(disk, device)


@system_call
def make_container(kernel: Kernel, caller: Caller, device: str) -> str:
    """Make an APFS container on an image and return its disk. Errors as in :func:`make_hfs`; ENOSPC."""
    disk = _clear_own_disk(kernel, caller, device)
    if disk.size_bytes < MIN_APFS_BYTES:
        raise OSError(errno.ENOSPC, "No space left on device")
    disk.synthesized = [next_device(kernel)]
    make_nodes(disk.synthesized[0], caller.uid)
    return disk.synthesized[0]


@system_call
def add_volume(kernel: Kernel, caller: Caller, container: str, name: str, case_sensitive: bool) -> DiskRecord:
    """Make the volume of an APFS container. EACCES, ENXIO; EEXIST for a second volume, which is not emulated."""
    disk = find_own_disk(kernel, caller, container)
    if disk.volume or container not in disk.synthesized:
        raise OSError(errno.EEXIST if disk.volume else errno.ENXIO, "no place for a volume")
    device = f"{container}s1"
    disk.synthesized.append(device)
    make_nodes(device, caller.uid)
    make_volume(disk, caller, Volume(device, "apfs", name, case_sensitive))
    return describe(disk, device)


def _clear_own_disk(kernel: Kernel, caller: Caller, device: str) -> Disk:
    """Remove the volume from the caller's image. EBUSY if it is mounted; EACCES, ENXIO."""
    disk = find_own_disk(kernel, caller, device)
    if disk.volume and disk.volume.mounted_at:
        raise OSError(errno.EBUSY, "Resource busy")
    remove_volume(disk)
    return disk


def make_volume(disk: Disk, caller: Caller, volume: Volume, size_bytes: int = 0) -> None:
    """Make an empty volume on an image; by default as large as HFS+ and APFS leave."""
    disk.volume = volume
    folder = HIDDEN / disk.device
    folder.mkdir(parents=True, exist_ok=True)
    linux_syscalls.mount_memory(str(folder), size_bytes or int(disk.size_bytes * (1 - OVERHEAD)))
    os.chown(folder, caller.uid, 20 if caller.uid else 0)


def remove_volume(disk: Disk) -> None:
    """Remove what is on an image."""
    if disk.volume:
        linux_syscalls.unmount(str(HIDDEN / disk.device), force=True)
    for device in disk.synthesized:
        remove_nodes(device)
    disk.volume, disk.synthesized = None, []


@system_call
def mount_volume(kernel: Kernel, caller: Caller, device: str, type: str, target: str, flags: list[str]) -> None:
    """Mount a volume at a folder, as mount(2) does. The caller must own the device (EACCES) and the folder (EPERM), or
    be root. EBUSY if the volume is mounted, EINVAL if the device has no file system of this type.
    """
    disk = find_own_disk(kernel, caller, device)
    if disk.volume is None or disk.volume.device != device or disk.volume.type != type:
        raise OSError(errno.EINVAL, "Invalid argument")
    if disk.volume.mounted_at:
        raise OSError(errno.EBUSY, "Resource busy")
    if caller.uid and os.stat(target).st_uid != caller.uid:  # noqa: PTH116
        raise OSError(errno.EPERM, "Operation not permitted")
    mount_at(kernel, caller, disk, disk.volume, target, flags)


@system_call
def mount_in_volumes(kernel: Kernel, caller: Caller, device: str) -> str:
    """Mount a volume below /Volumes, as Disk Arbitration does; returns its path. If NAME is taken, it is ``NAME 1``."""
    disk = find_own_disk(kernel, caller, device)
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
    mount_at(kernel, caller, disk, disk.volume, str(target), ["noowners"])
    return str(target)


def mount_at(kernel: Kernel, caller: Caller, disk: Disk, volume: Volume, target: str, flags: list[str]) -> None:
    """Show a volume at a folder, with a line in the table of mounts."""
    # a user's mount has neither devices nor set-user-id (xnu: vfs_syscalls.c)
    flags = ["local", *(["nodev", "nosuid"] if caller.uid else []), *flags]
    if volume.type == "apfs" or volume.journaled:
        flags.append("journaled")
    linux_syscalls.bind_mount(str(HIDDEN / disk.device), target, tuple(flags))
    volume.mounted_at = target
    undo = partial(_take_off, volume, target)
    source = volume.pool or f"/dev/{volume.device}"
    type_ = volume.shown_as or volume.type
    mounts.table(kernel).append(mounts.Mount(source, target, type_, tuple(flags), caller.uid, undo))


def _take_off(volume: Volume, target: str, force: bool) -> None:
    linux_syscalls.unmount(target, force)
    volume.mounted_at = ""
    if target.startswith("/Volumes/"):
        Path(target).rmdir()


@system_call
def unmount_device(kernel: Kernel, caller: Caller, device: str, force: bool) -> str:
    """Unmount the volume of a device; returns its mount point, or an empty text. EBUSY if it is in use, EPERM."""
    return _unmount(kernel, caller, find_disk(kernel, device), force)


def _unmount(kernel: Kernel, caller: Caller, disk: Disk, force: bool) -> str:
    if disk.volume is None or not disk.volume.mounted_at:
        return ""
    target = disk.volume.mounted_at
    mounts.unmount(kernel, caller, target, force)
    return target


@system_call
def eject(kernel: Kernel, caller: Caller, device: str, force: bool) -> str:
    """Unmount and detach an image, by any of its devices; returns its mount point. EBUSY, EPERM, ENXIO."""
    disk = find_disk(kernel, device)
    if caller.uid not in (0, disk.uid):
        raise OSError(errno.EPERM, "Operation not permitted")
    if not force and kernel.fault("eject-busy"):
        raise OSError(errno.EBUSY, "Resource busy")
    if not force and disk.volume and disk.volume.pool:
        raise OSError(errno.EBUSY, "Resource busy")
    target = _unmount(kernel, caller, disk, force)
    if disk.volume and not disk.path.startswith("ram://"):
        disks(kernel).used.add(identity(disk.path))
    remove_volume(disk)
    remove_nodes(disk.device)
    disks(kernel).remove(disk)
    return target
