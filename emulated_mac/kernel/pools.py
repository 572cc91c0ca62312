"""The pools of OpenZFS on OS X: each takes one whole disk image and has only its root dataset."""

import errno
from dataclasses import dataclass
from pathlib import Path

from .. import o3x
from ..records import PoolRecord
from . import mounts, volumes
from .disks import Disk, Volume, disks, find_disk, make_nodes
from .system_calls import Caller, Kernel, system_call

MIB = 1 << 20
LABELS_BYTES = 10 * MIB  # the map of partitions, what is left free behind the first, and ZFS's own labels
SLOP_BYTES = 128 * MIB  # what nobody may use, at least, or 1/32 (spa_slop_shift of zfs(4))


@dataclass
class Pool:
    """A pool; ``properties`` are those given at its creation, for the pool and its root dataset."""

    name: str
    disk: Disk
    mountpoint: str
    properties: dict[str, str]
    imported: bool = True


class PoolTable(list[Pool]):
    """All pools, exported ones included."""


@system_call
def install_o3x(kernel: Kernel, caller: Caller) -> None:
    """Install OpenZFS, as its package does. EPERM."""
    caller.must_be_root()
    o3x.install()


@system_call
def pools(kernel: Kernel, caller: Caller) -> list[PoolRecord]:
    """All imported pools."""
    return [
        {
            "name": pool.name, "device": f"{pool.disk.device}s1", "properties": pool.properties,
            "health": "ONLINE" if pool.disk in disks(kernel) else "SUSPENDED",
        }
        for pool in kernel.part(PoolTable)
        if pool.imported
    ]  # fmt: skip


@system_call
def create_pool(
    kernel: Kernel, caller: Caller, name: str, device: str, mountpoint: str, properties: dict[str, str]
) -> None:
    """Make a pool and mount it. EPERM; EEXIST, ENXIO; EBUSY: the device is in use; ENOTEMPTY: the folder has files."""
    caller.must_be_root()
    if any(pool.name == name and pool.imported for pool in kernel.part(PoolTable)):
        raise OSError(errno.EEXIST, "File exists")
    disk = find_disk(kernel, device)
    if disk.device != device or disk.volume:
        raise OSError(errno.EBUSY, "Resource busy")
    if Path(mountpoint).is_dir() and any(Path(mountpoint).iterdir()):
        raise OSError(errno.ENOTEMPTY, "Directory not empty")
    volumes.remove_volume(disk)
    disk.synthesized = [f"{device}s1"]
    make_nodes(disk.synthesized[0], 0)
    volume = Volume(f"{device}s1", "zfs", name, properties["casesensitivity"] == "sensitive", journaled=True)
    volume.shown_as = "hfs" if properties["com.apple.mimic"] == "hfs" else ""
    slop = max(disk.size_bytes // 32, SLOP_BYTES)
    volumes.make_volume(disk, caller, volume, disk.size_bytes - slop - LABELS_BYTES)
    pool = Pool(name, disk, mountpoint, properties)
    kernel.part(PoolTable).append(pool)
    _bring_in(kernel, caller, pool, volume)


@system_call
def import_pool(kernel: Kernel, caller: Caller, name: str) -> None:
    """Import a pool that was exported, and mount it. EPERM; ENOENT."""
    caller.must_be_root()
    for pool in kernel.part(PoolTable):
        if pool.name == name and not pool.imported and pool.disk in disks(kernel) and pool.disk.volume:
            _bring_in(kernel, caller, pool, pool.disk.volume)
            return
    raise OSError(errno.ENOENT, "No such file or directory")


@system_call
def let_go_of_pool(kernel: Kernel, caller: Caller, name: str, destroy: bool) -> None:
    """Export a pool, or destroy it. EPERM, ENOENT; EBUSY if it is in use. A pool that is shown as HFS+ counts as not
    mounted, so only ``umount`` unmounts it (https://github.com/openzfsonosx/openzfs/issues/50).
    """
    caller.must_be_root()
    pool = next((pool for pool in kernel.part(PoolTable) if pool.name == name and pool.imported), None)
    if pool is None:
        raise OSError(errno.ENOENT, "No such file or directory")
    volume = pool.disk.volume
    if volume and volume.mounted_at:
        if volume.shown_as:
            raise OSError(errno.EBUSY, "Resource busy")
        mounts.unmount(kernel, caller, volume.mounted_at, force=False)
    pool.imported = False
    if volume:
        volume.pool = ""
    if destroy:
        kernel.part(PoolTable).remove(pool)
        if pool.disk in disks(kernel):
            volumes.remove_volume(pool.disk)


def _bring_in(kernel: Kernel, caller: Caller, pool: Pool, volume: Volume) -> None:
    pool.imported, volume.pool = True, pool.name
    Path(pool.mountpoint).mkdir(parents=True, exist_ok=True)
    flags = {"setuid": "nosuid", "devices": "nodev", "atime": "noatime"}
    volumes.mount_at(
        kernel, caller, pool.disk, volume, pool.mountpoint,
        [flag for name, flag in flags.items() if pool.properties.get(name) == "off"],
    )  # fmt: skip
