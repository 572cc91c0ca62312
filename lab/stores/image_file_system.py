"""A Linux file system in one image file over a loop device, or on a disk or partition that the user named.

Only a new file of the lab's own is formatted, or a device with the lab's mark. The loop device is over just that file.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from lab.base.scripts import read_script
from lab.design.option_levels import Option, one_of
from lab.hosts.command import Command, script
from lab.hosts.mounts import in_table
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import DevicePath, OwnPath
from lab.stores import named_device
from lab.stores.operations import DEADLINE_S, KernelModule, LoopModule, StoreFiles
from lab.stores.store import FILLABLE, Facts, FileSystem, Room, Site

MAKE_IMAGE = read_script(__file__, "image_make.sh")
IMAGE_FUNCTIONS = read_script(__file__, "image_functions.sh")
MOUNT_IMAGE = IMAGE_FUNCTIONS + read_script(__file__, "image_mount.sh")
UNMOUNT_IMAGE = IMAGE_FUNCTIONS + read_script(__file__, "image_unmount.sh")
DEVICE_FUNCTIONS = named_device.FUNCTIONS + read_script(__file__, "device_mount_functions.sh")
MOUNT_DEVICE = DEVICE_FUNCTIONS + read_script(__file__, "device_mount.sh")
UNMOUNT_DEVICE = DEVICE_FUNCTIONS + read_script(__file__, "device_unmount.sh")
REMEDY = "see what the kernel of that host says (`dmesg`), or take the store out of the sweep"
TOO_SMALL = "give another image_size in [share] of the hosts file, or take the store out of the sweep"
USABLE = 0.85  # share of an image: btrfs, with two copies of metadata, leaves 0.89 of 2 GiB
IMAGE, NAMED = "image", "named"
WHICH_DISK = named_device.FUNCTIONS + read_script(__file__, "which_disk.sh")
ABOUT_DISK = (
    "What it lies on: an image file of the lab's own (`image`, the default), or the first of the `devices` in "
    "`[share]` of the hosts file (`named`), of which it takes `image_size`."
)
OPTIONS = MappingProxyType({**FILLABLE, "disk": Option(one_of(IMAGE, NAMED), ABOUT_DISK)})


class ImageFileSystem(FileSystem):
    """A Linux file system that needs at least ``least_bytes``.

    ``make_words`` is the command that makes one, without the path. No option of it forces, so it overwrites nothing.
    ``own_facts_script`` prints facts: $1 is the mount point, $2 the device in the mount table, ``$device`` the device
    without links.
    """

    module = LoopModule()
    lies_in = "an image"
    least_bytes: ClassVar[int]
    make_words: ClassVar[tuple[str, ...]]
    own_facts_script: ClassVar[str]

    @property
    def facts_script(self) -> str:  # type: ignore[override]  # it depends on the subclass
        """See :class:`FileSystem`."""
        return f"{WHICH_DISK}\n{self.own_facts_script}"

    @abstractmethod
    def words_on(self, device: str, size_bytes: int) -> tuple[str, ...]:
        """The command that makes one of this size at the start of a device. It must leave the rest alone."""

    @abstractmethod
    def read_own_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        """Parse what ``own_facts_script`` printed; ``mounted_with`` is from the mount table. Raises ValueError."""

    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        disk, own_facts = parse_which_disk(printed)
        facts = self.read_own_facts(own_facts, mounted_with)
        return Facts(facts.description, {**facts.levels, "disk": disk})

    def mount_options(self, levels: Mapping[str, str]) -> tuple[str, ...]:
        """Its mount options at these levels."""
        return ()

    def devices(self, levels: Mapping[str, str]) -> int:
        return 1 if levels.get("disk", IMAGE) == NAMED else 0

    def modules(self, levels: Mapping[str, str]) -> tuple[KernelModule, ...]:
        return () if self.devices(levels) else (self.module,)

    def least_size(self, levels: Mapping[str, str]) -> int:
        return self.least_bytes

    def empty_room(self, levels: Mapping[str, str]) -> Room:
        return Room(USABLE)

    def find_fault(self, site: Site) -> Command | None:
        text = named_device.FAULT + 'fault_of_devices "$@"'
        return script(text, *site.devices, root=True) if site.devices else None

    def steps(self, site: Site, size_bytes: int, levels: Mapping[str, str]) -> Iterator[Setting]:
        options = ",".join(("noatime", "nosuid", "nodev", *self.mount_options(levels)))
        if site.devices:
            (device,) = site.devices
            yield named_device.named_device(site.role, device, site.name, size_bytes + named_device.AT_END)
            words = (site.path, device, in_table(site.path), site.name, self.name, options, str(site.uid))
            make = script(MOUNT_DEVICE, *words, *self.words_on(device, size_bytes), root=True, deadline_s=DEADLINE_S)
            yield Setting(site.role, DeviceMount(site.path, device), "mounted", (make,), REMEDY)
            return
        image = f"{site.directory}/store.image"
        make = script(MAKE_IMAGE, image, str(size_bytes), *self.make_words, root=True, deadline_s=DEADLINE_S)
        yield Setting(site.role, ImageFile(image), "present", (make,), TOO_SMALL, before="absent")
        arguments = (site.path, image, in_table(site.path), self.name, options, str(site.uid))
        mount = script(MOUNT_IMAGE, *arguments, root=True, deadline_s=DEADLINE_S)
        yield Setting(site.role, ImageMount(site.path, image), "mounted", (mount,), REMEDY)


@dataclass(frozen=True)
class ImageFile(StoreFiles):
    """An image file in the lab's folder. It stays while it is mounted."""

    kind = "image-file"
    label_format = "image {path}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script('rm -f -- "$1"', self.path, root=True, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class ImageMount(Operation):
    """An image's file system, mounted over a loop device at a folder of the lab's own."""

    kind = "image-mount"
    label_format = "mount of {image} at {path}"
    values = "absent|mounted"

    path: OwnPath  #: Its mount point.
    image: OwnPath  #: The image file.

    def read(self) -> Command:
        return script(IMAGE_FUNCTIONS + 'state "$1" "$2"', in_table(self.path), self.image)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT_IMAGE, self.path, self.image, in_table(self.path), root=True, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class DeviceMount(Operation):
    """A device's file system, mounted at a folder of the lab's own."""

    kind = "device-mount"
    label_format = "mount of {device} at {path}"
    values = "absent|mounted"

    path: OwnPath  #: Its mount point.
    device: DevicePath  #: The device.

    def read(self) -> Command:
        return script(DEVICE_FUNCTIONS + 'mount_state "$1" "$2"', in_table(self.path), self.device)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT_DEVICE, self.path, self.device, in_table(self.path), root=True, deadline_s=DEADLINE_S),)


def parse_which_disk(text: str) -> tuple[str, str]:
    """The kind of disk, from the first line, and the other lines. Raises ValueError."""
    first, _, rest = text.partition("\n")
    if first not in (f"disk {IMAGE}", f"disk {NAMED}"):
        raise ValueError("not told what it lies on")
    return first.removeprefix("disk "), rest
