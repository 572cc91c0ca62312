"""hdiutil(1): images in memory and in files (man hdiutil; output seen on macOS 10.13, 15 and 26)."""

from __future__ import annotations

import errno
import os
import plistlib
import pwd
import sys

from .. import bsd_getopt, image_files, profiles
from ..disk_names import device_name
from ..kernel_client import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..records import ImageRecord

USAGE = """\
Usage: hdiutil <verb> <options>
Try "hdiutil help" for more information."""
PADDING = "          \t                               \t"
CHINESE = {"read/write": "读/写", "<unknown>": "<未知>"}
ATTACH_FLAGS = (
    "-nomount",
    "-nobrowse",
    "-noverify",
    "-noautoopen",
    "-plist",
    "-quiet",
    "-noautofsck",
    "-readwrite",
    "-owners",
)


def main(argv: list[str]) -> int:
    """The verb."""
    verbs = {
        "create": image_files.create,
        "attach": _attach,
        "mount": _attach,
        "info": _info,
        "detach": _detach,
        "eject": _detach,
        "unmount": _unmount,
    }
    if not argv:
        bsd_getopt.fail_with_usage(USAGE)
    if argv[0] not in verbs:
        if argv[0] in ("convert", "resize", "verify", "help", "imageinfo", "plugins", "internet-enable"):
            bsd_getopt.fail_as_not_emulated("hdiutil", argv[0])
        print(f"hdiutil: {argv[0]}: unknown verb", file=sys.stderr)
        bsd_getopt.fail_with_usage(USAGE)
    return verbs[argv[0]](argv[1:])


def framework() -> str:
    """The version of the framework DiskImages (seen on macOS 10.6, 10.13, 15; other versions get the nearest)."""
    versions = (((10, 6), "10.6v289"), ((10, 9), "10.9v371.1"), ((10, 13), "10.13v480.60.1"),
             ((10, 15), "10.15v559.100.2"), ((12,), "12v629"), ((14,), "14v670"), ((15,), "15v683.100.3"))  # fmt: skip
    return [text for since, text in versions if profiles.current().number >= since][-1]


def _attach(words: list[str]) -> int:
    flags = {word for word in words if word.startswith("-")}
    images = [word for word in words if not word.startswith("-")]
    if len(images) != 1 or flags - set(ATTACH_FLAGS):
        bsd_getopt.fail_with_usage("Usage: hdiutil attach [options] <image>")
    kind, _, sectors = images[0].partition("://")
    if kind == "ram" and (not sectors.isdigit() or int(sectors) == 0):
        bsd_getopt.fail("hdiutil: attach failed - image not recognized")
    size = int(sectors) if kind == "ram" else image_files.sectors_of(images[0])
    if "-nomount" not in flags:
        bsd_getopt.fail("hdiutil: attach failed - no mountable file systems")
    try:
        if kind == "ram":
            device = call("attach_ram", sectors=size)
        else:
            device = call("attach_file", path=os.path.realpath(images[0]), sectors=size)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            bsd_getopt.fail_as_not_emulated("hdiutil", "attach of an image that was detached")
        bsd_getopt.fail(f"hdiutil: attach failed - {error.strerror}")
    if "-plist" in flags:
        _print_plist(
            {"system-entities": [{"content-hint": "", "dev-entry": f"/dev/{device}", "potentially-mountable": False}]}
        )
    elif "-quiet" not in flags:
        print(f"/dev/{device}{PADDING}")
    return 0


def _print_plist(content: dict[str, object]) -> None:
    print(plistlib.dumps(content).decode(), end="")


def _info(words: list[str]) -> int:
    if set(words) - {"-plist", "-quiet"}:
        bsd_getopt.fail_with_usage("Usage: hdiutil info [-plist]")
    images: list[ImageRecord] = call("images")
    if "-plist" in words:
        revision = framework()
        version = revision.partition("v")[2]
        content = [_entry(image) for image in images]
        _print_plist({"framework": version, "images": content, "revision": revision, "vendor": "Apple"})
    elif "-quiet" not in words:
        _print_info(images)
    return 0


def _entry(image: ImageRecord) -> dict[str, object]:
    """One image of the property list; ``diskimages2`` since 12."""
    entry: dict[str, object] = {
        "autodiskmount": False, "blockcount": image["sectors"], "blocksize": 512, "hdid-pid": image["pid"],
        "icon-path": "/System/Library/PrivateFrameworks/DiskImages.framework/Resources/CDiskImage.icns",
        "image-encrypted": False, "image-path": image["path"], "image-type": "read/write",
        "owner-uid": image["uid"], "removable": True, "writeable": True,
        "system-entities": [
            {"content-hint": device["hint"], "dev-entry": f"/dev/{device['device']}"}
            | ({"mount-point": device["mounted_at"]} if device["mounted_at"] else {})
            for device in image["devices"]
        ],
    }  # fmt: skip
    return entry | ({"diskimages2": False} if profiles.current().number >= (12,) else {})


def _print_info(images: list[ImageRecord]) -> None:
    """Print the text form; its values are in the user's language."""
    chinese = CHINESE if call("fault", name="localized") else {}
    version = framework().partition("v")[2]
    print(f"framework       : {version}\ndriver          : {version}\nimages          : {len(images)}")
    for image in images:
        print("=" * 48)
        rows = {
            "image-path": image["path"], "image-type": "read/write", "blockcount": str(image["sectors"]),
            "mounting user": pwd.getpwuid(image["uid"]).pw_name, "mounting mode": "<unknown>",
            "process ID": str(image["pid"]),
        }  # fmt: skip
        if profiles.current().number >= (12,):
            rows["framework name"] = "DiskImages"
        print("".join(f"{name:<16}: {chinese.get(value, value)}\n" for name, value in rows.items()), end="")
        for device in image["devices"]:
            print(f"/dev/{device['device']}\t{device['hint']}\t{device['mounted_at']}")


def _detach(words: list[str]) -> int:
    """Print both lines, or only the second if nothing was mounted. Exit code 16 (EBUSY) if the image is in use."""
    force = "-force" in words
    names = [word for word in words if not word.startswith("-")]
    if len(names) != 1 or set(words) - {"-force", "-quiet", *names}:
        bsd_getopt.fail_with_usage("Usage: hdiutil detach [-force] <device>")
    name = _find_device(names[0])
    try:
        image = call("disk_info", device=name)["image"]
        target = call("eject", device=name, force=force)
    except OSError as error:
        if error.errno == 6:
            bsd_getopt.fail("hdiutil: detach failed - No such file or directory")
        if error.errno != 16:
            bsd_getopt.fail(f'hdiutil: couldn\'t eject "{name}" - {error.strerror}')
        bsd_getopt.fail(f'hdiutil: couldn\'t eject "{name}" - Resource busy', 16)
    if "-quiet" not in words:
        print(f'"{image}" unmounted.\n' * bool(target) + f'"{image}" ejected.')
    return 0


def _unmount(words: list[str]) -> int:
    name = _find_device(next((word for word in words if not word.startswith("-")), ""))
    try:
        target = call("unmount_device", device=name, force="-force" in words)
    except OSError as error:
        bsd_getopt.fail(f'hdiutil: couldn\'t unmount "{name}" - {error.strerror}', 16 if error.errno == 16 else 1)
    if target:
        print(f'"{name}" unmounted successfully.')
    return 0


def _find_device(word: str) -> str:
    """The device with this name or this mount point."""
    for mount in call("mounts"):
        if mount["target"] == word.rstrip("/"):
            return device_name(mount["source"])
    return device_name(word)
