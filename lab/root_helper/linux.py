"""What the helper of a narrow sudo knows on Linux: what a client, or the server of a share that is there, needs."""

from __future__ import annotations

from collections.abc import Iterator

from lab.hosts.command import command, script
from lab.platforms.linux.files import DROP_CACHES
from lab.platforms.linux.ram_disk import TMPFS, Tmpfs
from lab.platforms.linux.settings import LinuxMtu, LinuxTcpBuffer
from lab.protocols.mounts.linux import PROBE, LinuxShareMount
from lab.protocols.smb.linux import DEBUG_DATA
from lab.root_helper.table import MNT, RAM, Entry, folders, journal, make_entry, readings

CREDENTIALS = "credentials={credentials},uid={uid},gid={gid}{smb_options}"
NFS_OPTIONS = "proto=tcp,soft,timeo=100,retrans=3,nolock{nfs_options}"


def entries() -> list[Entry]:
    """The whole table."""
    return [*readings(), *_readings(), *_settings(), *_mounts(), *folders(), *journal(LinuxMtu("eth0"))]


def _readings() -> Iterator[Entry]:
    for kind in ("cifs", "nfs"):
        yield make_entry(f"whether the kernel knows {kind}; it may load its module for that", script(PROBE, kind))
    yield make_entry("connections of the kernel's SMB client", script(DEBUG_DATA))


def _settings() -> Iterator[Entry]:
    example = {"eth0": "{interface}", "1500": "{mtu}"}
    yield make_entry("the MTU of an interface, 68 to 65535", LinuxMtu("eth0").change("1500")[0], example)
    for buffer in (LinuxTcpBuffer("net.ipv4.tcp_rmem"), LinuxTcpBuffer("net.ipv4.tcp_wmem")):
        yield make_entry(f"{buffer.name}, three numbers", buffer.change("1\t2\t3")[0], {"1\t2\t3": "{buffer}"})
    yield make_entry("forget cached files", script(DROP_CACHES))


def _mounts() -> Iterator[Entry]:
    disk = {RAM: "{ram}", "size": "size={bytes},mode=700,uid={uid}"}
    yield make_entry("a RAM disk; always nosuid, nodev", script(TMPFS, RAM, "size"), disk, act="tmpfs")
    cifs = command("mount", "-t", "cifs", "-o", "options", "source", MNT)
    yield make_entry(
        "an SMB share; so too", cifs, {"options": CREDENTIALS, "source": "{smb}", MNT: "{mnt}"}, act="mount"
    )
    nfs = command("mount", "-t", "nfs", "-o", "options", "source", MNT)
    yield make_entry(
        "an NFS share; so too", nfs, {"options": NFS_OPTIONS, "source": "{nfs}", MNT: "{mnt}"}, act="mount"
    )
    for about, step, types in (
        ("a RAM disk", Tmpfs(RAM).undo("absent")[0], {RAM: "{ram}"}),
        ("a share", LinuxShareMount(MNT).undo("absent")[0], {MNT: "{mnt}"}),
    ):
        yield make_entry(f"unmount {about}", step, types, act="unmount")
