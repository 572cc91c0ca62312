"""A Linux file system in an image file or on a named device, mounted.

Only a new file of the lab's own is formatted, or a device with the lab's mark. The loop device is over just that file.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.hosts.mounts import in_table
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import DevicePath, OwnPath
from lab.stores import named_device
from lab.stores.operations import DEADLINE_S, StoreFiles

MAKE_IMAGE = read_script(__file__, "image_make.sh")
IMAGE_FUNCTIONS = read_script(__file__, "image_functions.sh")
MOUNT_IMAGE = IMAGE_FUNCTIONS + read_script(__file__, "image_mount.sh")
UNMOUNT_IMAGE = IMAGE_FUNCTIONS + read_script(__file__, "image_unmount.sh")
DEVICE_FUNCTIONS = named_device.FUNCTIONS + read_script(__file__, "device_mount_functions.sh")
MOUNT_DEVICE = DEVICE_FUNCTIONS + read_script(__file__, "device_mount.sh")
UNMOUNT_DEVICE = DEVICE_FUNCTIONS + read_script(__file__, "device_unmount.sh")
REMEDY = "see what the kernel of that host says (`dmesg`), or take the store out of the sweep"


@dataclass(frozen=True)
class ImageFile(StoreFiles):
    """An image file in the lab's folder. It stays while it is mounted."""

    kind = "image-file"

    @property
    def label(self) -> str:
        return f"image {self.path}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script('rm -f -- "$1"', self.path, root=True, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class ImageMount(Operation):
    """An image's file system, mounted over a loop device at a folder of the lab's own."""

    kind = "image-mount"
    values = "absent|mounted"

    path: OwnPath
    """Its mount point."""
    image: OwnPath
    """The image file."""

    @property
    def label(self) -> str:
        return f"mount of {self.image} at {self.path}"

    def read(self) -> Command:
        return script(IMAGE_FUNCTIONS + 'state "$1" "$2"', in_table(self.path), self.image)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT_IMAGE, self.path, self.image, in_table(self.path), root=True, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class DeviceMount(Operation):
    """A device's file system, mounted at a folder of the lab's own."""

    kind = "device-mount"
    values = "absent|mounted"

    path: OwnPath
    """Its mount point."""
    device: DevicePath
    """The device."""

    @property
    def label(self) -> str:
        return f"mount of {self.device} at {self.path}"

    def read(self) -> Command:
        return script(DEVICE_FUNCTIONS + 'mount_state "$1" "$2"', in_table(self.path), self.device)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT_DEVICE, self.path, self.device, in_table(self.path), root=True, deadline_s=DEADLINE_S),)


def image_file(role: str, path: str, size_bytes: int, make_words: Sequence[str]) -> Setting:
    """Make a new image file of this size, and a file system in it by the command ``make_words``."""
    make = script(MAKE_IMAGE, path, str(size_bytes), *make_words, root=True, deadline_s=DEADLINE_S)
    remedy = "give another image_size in [share] of the hosts file, or take the store out of the sweep"
    return Setting(role, ImageFile(path), "present", (make,), remedy, before="absent")


def image_mount(role: str, path: str, image: str, kind: str, options: Sequence[str], uid: int) -> Setting:
    """Mount an image's file system of this ``kind`` at the folder ``path``, and give it to the account ``uid``."""
    words = (path, image, in_table(path), kind, _all_options(options), str(uid))
    mount = script(MOUNT_IMAGE, *words, root=True, deadline_s=DEADLINE_S)
    return Setting(role, ImageMount(path, image), "mounted", (mount,), REMEDY)


def device_mount(
    role: str, mount: DeviceMount, mark: str, kind: str, options: Sequence[str], uid: int, make_words: Sequence[str]
) -> Setting:
    """Make a file system of this ``kind`` by ``make_words`` on a device with this mark, and mount it."""
    words = (mount.path, mount.device, in_table(mount.path), mark, kind, _all_options(options), str(uid), *make_words)
    make = script(MOUNT_DEVICE, *words, root=True, deadline_s=DEADLINE_S)
    return Setting(role, mount, "mounted", (make,), REMEDY)


def _all_options(options: Sequence[str]) -> str:
    return ",".join(("noatime", "nosuid", "nodev", *options))
