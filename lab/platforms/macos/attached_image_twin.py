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


def devices(image: "dict[str, Any]") -> "list[dict[str, Any]]":
    """The devices of an image."""
    return list(image.get("system-entities", []))


def ours(source: str) -> "list[dict[str, Any]]":
    """The images of this source that this account attached."""
    mine = source, os.getuid()
    return [image for image in images() if (image.get("image-path"), image.get("owner-uid")) == mine]


def is_elsewhere(image: "dict[str, Any]", place: str) -> bool:
    """Whether anything of it is mounted at another place."""
    return any(device.get("mount-point", "") not in ("", place) for device in devices(image))


def disks(image: "dict[str, Any]") -> list[str]:
    """The image's own disk, and none that was made up on top of it."""
    own = [device for device in devices(image) if device.get("content-hint") != APFS_CONTAINER]
    names = [device.get("dev-entry", "") for device in own]
    return [name for name in names if re.fullmatch(r"/dev/disk\d+", name)]


def main(act: str, source: str, place: str) -> None:
    """Say whether it is attached, or detach it."""
    if act == "state":
        print("attached" if ours(source) else "absent")
        return
    if act != "detach":
        sys.stderr.write(f"unknown: {act}\n")
        sys.exit(255)
    for attempt in (1, 2, 3, 4):
        mine = [image for image in ours(source) if not is_elsewhere(image, place)]
        for device in [name for image in mine for name in disks(image)]:
            force = ["-force"] if attempt == 4 else []
            detach = ["hdiutil", "detach", device, *force]
            if subprocess.run(detach, check=False).returncode != 0:
                time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
