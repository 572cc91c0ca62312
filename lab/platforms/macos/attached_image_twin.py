"""The twin of attached_image.pl: macos/images_twin.py stands in front of it on the host."""

import os
import re
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lab.platforms.macos.images_twin import images

APFS_CONTAINER = "EF57347C-0000-11AA-AA11-00306543ECAC"
APFS_VOLUME = "41504653-0000-11AA-AA11-00306543ECAC"


def devices(image: "dict[str, Any]") -> "list[dict[str, Any]]":
    """The devices of an image."""
    return list(image.get("system-entities", []))


def ours(path: str, uid: int) -> "list[dict[str, Any]]":
    """The images of this file, or of RAM, that this account attached."""
    return [image for image in images() if (image.get("image-path"), image.get("owner-uid")) == (path, uid)]


def only(path: str, uid: int) -> "dict[str, Any]":
    """The one that there is; else it ends here."""
    found = ours(path, uid)
    if len(found) != 1:
        fail(f"{len(found)} images are {path}: none is certainly the lab's")
    return found[0]


def is_elsewhere(image: "dict[str, Any]", place: str) -> bool:
    """Whether anything of it is mounted at another place."""
    return any(device.get("mount-point", "") not in ("", place) for device in devices(image))


def disks(image: "dict[str, Any]") -> list[str]:
    """The image's own disk, and none that was made up on top of it."""
    own = [device for device in devices(image) if device.get("content-hint") != APFS_CONTAINER]
    names = [device.get("dev-entry", "") for device in own]
    return [name for name in names if re.fullmatch(r"/dev/disk\d+", name)]


def new(image: "dict[str, Any]") -> str:
    """The device of an image of which nothing else was made yet."""
    own = disks(image)
    mounted = [device for device in devices(image) if device.get("mount-point")]
    if mounted or len(own) != 1 or len(devices(image)) != 1:
        fail("the image is in use already")
    return own[0]


def volume(image: "dict[str, Any]") -> str:
    """The device of the volume on an image."""
    of_apfs = [device.get("dev-entry", "") for device in devices(image) if device.get("content-hint") == APFS_VOLUME]
    volumes = of_apfs or disks(image)
    if len(volumes) != 1 or not re.fullmatch(r"/dev/disk\d+(s\d+)?", volumes[0]):
        fail("no volume, or several, on the image")
    return volumes[0]


def fail(message: str) -> None:
    """End with a message."""
    sys.stderr.write(f"{message}\n")
    sys.exit(255)


def detach(path: str, place: str, uid: int) -> None:
    """Detach it, unless it is mounted elsewhere."""
    for attempt in (1, 2, 3, 4):
        mine = [image for image in ours(path, uid) if not is_elsewhere(image, place)]
        for device in [name for image in mine for name in disks(image)]:
            force = ["-force"] if attempt == 4 else []
            if subprocess.run(["hdiutil", "detach", device, *force], check=False).returncode != 0:
                time.sleep(1)


def main(act: str, path: str, place: str, uid: str = "") -> None:
    """Say what there is of it, or detach it."""
    owner = int(uid) if uid else os.getuid()
    if act == "state":
        print("attached" if ours(path, owner) else "absent")
    elif act in ("new", "volume"):
        print({"new": new, "volume": volume}[act](only(path, owner)))
    elif act == "detach":
        detach(path, place, owner)
    else:
        fail(f"unknown: {act}")


if __name__ == "__main__":
    main(*sys.argv[1:])
