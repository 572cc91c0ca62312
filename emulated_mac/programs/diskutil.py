"""diskutil(8): RAM disks made, erased, looked at and ejected (man diskutil; output seen on macOS 10.6 to 26)."""

from __future__ import annotations

import os
import plistlib
import sys
import uuid

from .. import bsd_getopt, profiles
from ..disk_names import binary_size, decimal_size, device_name
from ..kernel_client import call
from . import newfs_hfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..records import DiskRecord, MountRecord

USAGE = """\
Disk Utility Tool
Utility to manage local disks and volumes
Most commands require an administrator or root user"""
FORMATS = {
    "hfs+": ("hfs", False), "jhfs+": ("hfs", False), "hfsx": ("hfs", True), "jhfsx": ("hfs", True),
    "case-sensitive hfs+": ("hfs", True), "case-sensitive journaled hfs+": ("hfs", True),
    "journaled hfs+": ("hfs", False),
    "apfs": ("apfs", False), "case-sensitive apfs": ("apfs", True), "apfsx": ("apfs", True),
}  # fmt: skip


def main(argv: list[str]) -> int:
    """Run the verb; case does not matter."""
    verbs: dict[str, Callable[[list[str]], int]] = {
        "erasevolume": _erase, "erasedisk": _erase, "eject": _eject, "unmount": _unmount, "umount": _unmount,
        "unmountdisk": _unmount_disk, "mount": _mount, "info": _info, "list": _list, "apfs": _apfs,
        "enableownership": _ownership, "disableownership": _ownership,
    }  # fmt: skip
    if not argv:
        print(USAGE)
        return 0
    verb = argv[0].lower()
    if verb not in verbs:
        print(f'diskutil: did not recognize verb "{argv[0]}"; type "diskutil" for a list', file=sys.stderr)
        return 1
    return verbs[verb](argv[1:])


def _find_device(word: str) -> str:
    """Find the device by its name, its mount point or the name of its volume."""
    if word.startswith("/") and not word.startswith("/dev/"):
        path = word.rstrip("/")
        return next((device_name(mount["source"]) for mount in call("mounts") if mount["target"] == path), "")
    return device_name(word)


def _find_disk(word: str) -> DiskRecord:
    try:
        disk: DiskRecord = call("disk_info", device=_find_device(word))
    except OSError:
        message = "Could not find disk:" if profiles.current().number >= (10, 9) else "Unable to find disk for"
        bsd_getopt.fail(f"{message} {word}")
    return disk


def _erase(words: list[str]) -> int:
    if len(words) != 3:
        bsd_getopt.fail_with_usage("Usage:  diskutil eraseVolume format name MountPoint|DiskIdentifier|DeviceNode")
    format_, name, disk = _format(words[0]), words[1], _find_disk(words[2])
    journaled = "j" in words[0].lower()
    device = disk["device"]
    print(f"Started erase on {device}\nUnmounting disk", flush=True)
    try:
        call("unmount_device", device=device, force=False)
        print("Erasing", flush=True)
        made = _make(device, name, *format_, journaled)
    except OSError as error:
        code = {16: "-69877: Couldn't open device", 13: "-69877: Couldn't open device"}.get(
            error.errno or 0, str(error)
        )
        bsd_getopt.fail(f"Error: {code}")
    if format_[0] == "hfs":
        kind, size = newfs_hfs.kind(format_[1]), binary_size(made["size_bytes"])
        journal = " with a 8192k journal" if journaled else ""
        print(f"Initialized /dev/r{device} as a {size} {kind}{journal}")
    print("Mounting disk", flush=True)
    call("mount_in_volumes", device=made["device"])
    print(f"Finished erase on {device} {name}" if format_[0] == "hfs" else f"Finished erase on {made['device']} {name}")
    return 0


def _format(word: str) -> tuple[str, bool]:
    format_ = FORMATS.get(word.lower())
    if format_ is None or (format_[0] == "apfs" and profiles.current().number < (10, 13)):
        bsd_getopt.fail(f"{word} does not appear to be a valid file system format")
    return format_


def _make(device: str, name: str, type_: str, case_sensitive: bool, journaled: bool) -> DiskRecord:
    if type_ == "hfs":
        made: DiskRecord = call(
            "make_hfs", device=device, name=name, case_sensitive=case_sensitive, journaled=journaled
        )
    else:
        container = call("make_container", device=device)
        made = call("add_volume", container=container, name=name, case_sensitive=case_sensitive)
    return made


def _apfs(words: list[str]) -> int:
    """``apfs create DEVICE NAME``, its two steps ``createContainer`` and ``addVolume``, and ``list``; since 10.13."""
    if profiles.current().number < (10, 13):
        bsd_getopt.fail('diskutil: did not recognize verb "apfs"; type "diskutil" for a list')
    verb = words[0].lower() if words else ""
    complete = {"create": len(words) == 3, "createcontainer": len(words) == 2,
             "addvolume": len(words) == 4 or words[4:] == ["-nomount"], "list": len(words) == 1}  # fmt: skip
    if not complete.get(verb):
        bsd_getopt.fail_as_not_emulated("diskutil", f"apfs {' '.join(words)}")
    if verb == "list":
        print("APFS Containers (0 found)")  # the Mac's own disk is not emulated, so it is not listed
        return 0
    try:
        if verb == "create":
            container = _create_container(words[1])
            return _add_volume(container, "APFS", words[2], mount=True)
        if verb == "addvolume":
            return _add_volume(_find_device(words[1]), words[2], words[3], mount=len(words) == 4)
        _create_container(words[1])
    except OSError as error:
        bsd_getopt.fail(f"Error: {error.strerror}")
    return 0


def _create_container(word: str) -> str:
    device = _find_disk(word)["device"]
    print(f"Started APFS operation on {device}\nCreating a new empty APFS Container\nUnmounting Volumes")
    container: str = call("make_container", device=device)
    print(f"Switching {device} to APFS\nCreating APFS Container\nCreated new APFS Container {container}")
    print(f"Disk from APFS operation: {container}\nFinished APFS operation on {device}")
    return container


def _add_volume(container: str, format_: str, name: str, mount: bool) -> int:
    print(f'Will export new APFS Volume "{name}" from APFS Container Reference {container}')
    print(f"Started APFS operation on {container}\nPreparing to add APFS Volume to APFS Container {container}")
    print("Creating APFS Volume")
    made = call("add_volume", container=container, name=name, case_sensitive=_format(format_)[1])
    print(f"Created new APFS Volume {made['device']}")
    if mount:
        print("Mounting APFS Volume\nSetting volume permissions")
        call("mount_in_volumes", device=made["device"])
    print(f"Disk from APFS operation: {made['device']}\nFinished APFS operation on {container}")
    return 0


def _eject(words: list[str]) -> int:
    if len(words) != 1:
        bsd_getopt.fail_with_usage("Usage:  diskutil eject MountPoint|DiskIdentifier|DeviceNode")
    disk = _find_disk(words[0])
    try:
        call("eject", device=disk["device"], force=False)
    except OSError as error:
        return _report_refusal(disk["device"], disk["name"], disk["mounted_at"], error, "eject")
    # before 10.9 diskutil prints the whole path
    name = disk["device"] if profiles.current().number >= (10, 9) else f"/dev/{disk['device']}"
    print(f"Disk {name} ejected")
    return 0


def _report_refusal(device: str, volume: str, mounted_at: str, error: OSError, verb: str) -> int:
    subject = f"Volume {volume} on {device}" if volume else f"Disk {device}"
    if error.errno == 16 and profiles.current().number >= (10, 10):
        print(f"{subject} failed to {verb}: dissented by PID {os.getppid()} (/bin/zsh)", file=sys.stderr)
        print(f"Dissenter parent PPID {os.getppid()} (/usr/sbin/sshd)", file=sys.stderr)
    elif error.errno == 16:
        print(f"{verb.capitalize()} failed for {mounted_at or device}", file=sys.stderr)
    else:
        print(f"{subject} failed to {verb}: {error.strerror}", file=sys.stderr)
    return 1


def _split_force(words: list[str]) -> tuple[bool, list[str]]:
    return "force" in words[:1], words[1:] if "force" in words[:1] else words


def _unmount(words: list[str]) -> int:
    """Unmount by mount point, or a RAM disk by its device."""
    force, names = _split_force(words)
    if len(names) != 1:
        bsd_getopt.fail_with_usage("Usage:  diskutil unmount [force] MountPoint|DiskIdentifier|DeviceNode")
    path = names[0].rstrip("/")
    mounts: list[MountRecord] = call("mounts")
    mount = next((mount for mount in mounts if path in (mount["target"], mount["source"])), None)
    if mount is None:
        _find_disk(names[0])
        print(f"{names[0]} was already unmounted")
        return 0
    source = device_name(mount["source"])
    name = os.path.basename(mount["target"])  # noqa: PTH119
    try:
        call("unmount", target=mount["target"], force=force)
    except OSError as error:
        return _report_refusal(source, name, mount["target"], error, "unmount")
    print(f"Volume {name} on {source} {'force-unmounted' if force else 'unmounted'}")
    return 0


def _unmount_disk(words: list[str]) -> int:
    force, names = _split_force(words)
    if len(names) != 1:
        bsd_getopt.fail_with_usage("Usage:  diskutil unmountDisk [force] MountPoint|DiskIdentifier|DeviceNode")
    disk = _find_disk(names[0])
    try:
        call("unmount_device", device=disk["device"], force=force)
    except OSError:
        print(f"Unmount of {disk['device']} failed: at least one volume could not be unmounted", file=sys.stderr)
        return 1
    print(f"{'Forced unmount' if force else 'Unmount'} of all volumes on {disk['device']} was successful")
    return 0


def _mount(words: list[str]) -> int:
    if len(words) != 1:
        bsd_getopt.fail_as_not_emulated("diskutil", f"mount {' '.join(words)}")
    disk = _find_disk(words[0])
    try:
        call("mount_in_volumes", device=disk["device"])
    except OSError:
        bsd_getopt.fail(f"Volume on {disk['device']} failed to mount")
    print(f"Volume {disk['name']} on {disk['device']} mounted")
    return 0


def _ownership(words: list[str]) -> int:
    bsd_getopt.fail_as_not_emulated("diskutil", "enableOwnership")


def _info(words: list[str]) -> int:
    as_plist = words[:1] == ["-plist"]
    names = words[1:] if as_plist else words
    if len(names) != 1:
        bsd_getopt.fail_with_usage("Usage:  diskutil info [-plist] MountPoint|DiskIdentifier|DeviceNode")
    disk = _find_disk(names[0])
    if not as_plist:
        bsd_getopt.fail_as_not_emulated("diskutil", "info without -plist")
    print(plistlib.dumps(_describe(disk)).decode(), end="")
    return 0


def _describe(disk: DiskRecord) -> dict[str, object]:
    kinds = {"hfs": "Journaled HFS+" if disk["journaled"] else "HFS+", "apfs": "APFS", "": ""}
    kind = f"Case-sensitive {kinds[disk['type']]}" if disk["case_sensitive"] else kinds[disk["type"]]
    content: dict[str, object] = {
        "BusProtocol": "Disk Image", "DeviceIdentifier": disk["device"], "DeviceNode": f"/dev/{disk['device']}",
        "Ejectable": True, "FilesystemName": kind, "FilesystemType": disk["type"],
        "GlobalPermissionsEnabled": False, "Internal": False, "MountPoint": disk["mounted_at"],
        "ParentWholeDisk": disk["device"].partition("s1")[0], "Size": disk["size_bytes"],
        "TotalSize": disk["size_bytes"], "VirtualOrPhysical": "Virtual", "VolumeName": disk["name"],
        "WholeDisk": "s1" not in disk["device"], "WritableVolume": bool(disk["type"]),
    }  # fmt: skip
    if disk["mounted_at"]:
        stat = os.statvfs(disk["mounted_at"])
        key = "APFSContainerFree" if disk["type"] == "apfs" else "FreeSpace"
        content[key] = stat.f_bavail * stat.f_frsize
        content["VolumeUUID"] = str(uuid.uuid5(uuid.NAMESPACE_OID, disk["mounted_at"])).upper()
    return content


def _list(words: list[str]) -> int:
    """List the RAM disks. The Mac's own disk is not emulated."""
    if words and words[0] == "-plist":
        bsd_getopt.fail_as_not_emulated("diskutil", "list -plist")
    for image in call("images"):
        disk = call("disk_info", device=image["devices"][0]["device"])
        size = f"+{decimal_size(disk['size_bytes'])}"
        print(f"/dev/{disk['device']} (disk image):")
        print("   #:                       TYPE NAME                    SIZE       IDENTIFIER")
        print(f"   0:                            {disk['name']:<23} {size:<10} {disk['device']}\n")
    return 0
