"""What the helper of a narrow sudo knows on a Mac: what a client, or the server of a share that is there, needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from lab.hosts.command import command, script
from lab.platforms.macos.clock import COUNT_TCP
from lab.platforms.macos.disk_images import leave_alone, mount_volume
from lab.platforms.macos.files import PURGE
from lab.platforms.macos.ram_disk import RamVolume
from lab.platforms.macos.settings import MacMtu
from lab.platforms.macos.sysctl import MacSysctl, Name
from lab.protocols.mounts.macos import MacShareMount
from lab.protocols.nfs.macos import OPTIONS, mount_nfs
from lab.root_helper.table import MNT, RAM, Entry, folders, journal, make_entry, readings


def entries() -> list[Entry]:
    """The whole table."""
    return [*readings(), *_readings(), *_settings(), *_mounts(), *folders(), *journal(MacMtu("en0"))]


def _readings() -> Iterator[Entry]:
    yield make_entry("how many TCP segments were sent again", command(*COUNT_TCP))


def _settings() -> Iterator[Entry]:
    example = {"en0": "{interface}", "1500": "{mtu}"}
    yield make_entry("the MTU of an interface, 68 to 65535", MacMtu("en0").change("1500")[0], example)
    for name in get_args(Name):
        step = MacSysctl(name).change("1")[0]
        yield make_entry(f"{name}, a number", step, {f"{name}=1": f"{name}={{number}}"})
    yield make_entry("forget cached files", script(PURGE))


def _mounts() -> Iterator[Entry]:
    volume = {"kind": "{format}", "device": "{device}", RAM: "{ram}"}
    yield make_entry("a RAM disk; always nosuid, nodev", mount_volume("kind", "device", RAM), volume, act="volume")
    alone = {RAM: "{ram}", "1": "{uid}"}
    yield make_entry("no Spotlight on it; it is the account's", leave_alone(RAM, 1, "700"), alone, act="leave_alone")
    nfs = {"source": "{nfs}", MNT: "{mnt}", f"{OPTIONS},asked": f"{OPTIONS}{{nfs_options}}"}
    yield make_entry("an NFS share; always nosuid, nodev", mount_nfs("source", MNT, ["asked"]), nfs, act="mount")
    for step in RamVolume(RAM).undo("absent"):
        yield make_entry("unmount a RAM disk", step, {RAM: "{ram}"}, act="unmount")
    for step in MacShareMount(MNT).undo("absent"):
        yield make_entry("unmount a share", step, {MNT: "{mnt}"}, act="unmount")
