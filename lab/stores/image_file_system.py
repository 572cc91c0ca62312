"""A file system in one image file over a loop device, or on a disk or partition that the user named."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

from lab.base.scripts import read_script
from lab.design.option_levels import one_of
from lab.hosts.command import Command
from lab.settings.setting import Setting
from lab.stores import device_mount, named_device
from lab.stores.image import LoopModule, image_file, image_mount
from lab.stores.kernel_module import KernelModule
from lab.stores.store import FILLABLE, Facts, FileSystem, Option, Room, Site

USABLE = 0.85  # of an image: btrfs takes most for itself, and leaves 0.89 of 2 GiB (two copies of metadata)
IMAGE, NAMED = "image", "named"
# As what there is of a file system says of itself first: $2 the device
WHICH_DISK = named_device.FUNCTIONS + read_script(__file__, "which_disk.sh")
OPTIONS = MappingProxyType(
    {
        **FILLABLE,
        "disk": Option(
            one_of(IMAGE, NAMED),
            "What it lies on: an image file of the lab's own (`image`, the default), or the first of the `devices` in "
            "`[share]` of the hosts file (`named`), of which it takes `image_size`.",
        ),
    }
)


class ImageFileSystem(FileSystem):
    """A file system of Linux that the lab makes in an image file. No smaller one than ``least_bytes`` can be made.

    ``own_facts_script`` prints what it says of itself: its $1 is the mount point, $2 the device as the table of mounts
    has it, ``$device`` the same without links.
    """

    module = LoopModule()
    lies_in = "an image"
    least_bytes: ClassVar[int]
    make_words: ClassVar[tuple[str, ...]]
    """The command that makes one, without the path. No word of it forces: something that is there stays there."""
    own_facts_script: ClassVar[str]

    @property
    def facts_script(self) -> str:  # type: ignore[override]  # made of the class's own
        """See :class:`FileSystem`."""
        return f"{WHICH_DISK}\n{self.own_facts_script}"

    @abstractmethod
    def words_on(self, device: str, size_bytes: int) -> tuple[str, ...]:
        """The command that makes one of this size at the start of a device, and leaves all behind that alone."""

    @abstractmethod
    def read_own_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        """What ``own_facts_script`` printed, beside the options in the table of mounts. Raises ValueError."""

    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        """See :meth:`FileSystem.read_facts`."""
        disk, own = parse_which_disk(printed)
        facts = self.read_own_facts(own, mounted_with)
        return Facts(facts.description, {**facts.levels, "disk": disk})

    def mount_options(self, levels: Mapping[str, str]) -> tuple[str, ...]:
        """The options of its mount at these levels of its options."""
        return ()

    def devices(self, levels: Mapping[str, str]) -> int:
        """See :meth:`FileSystem.devices`."""
        return 1 if levels.get("disk", IMAGE) == NAMED else 0

    def modules(self, levels: Mapping[str, str]) -> tuple[KernelModule, ...]:
        """See :meth:`FileSystem.modules`."""
        return () if self.devices(levels) else (self.module,)

    def least_size(self, levels: Mapping[str, str]) -> int:
        """See :meth:`FileSystem.least_size`."""
        return self.least_bytes

    def empty_room(self, levels: Mapping[str, str]) -> Room:
        """See :meth:`FileSystem.empty_room`."""
        return Room(USABLE)

    def find_fault(self, site: Site) -> Command | None:
        """See :meth:`FileSystem.find_fault`."""
        return named_device.find_fault(site.devices) if site.devices else None

    def steps(self, site: Site, size_bytes: int, levels: Mapping[str, str]) -> Iterator[Setting]:
        """See :meth:`FileSystem.steps`."""
        options = self.mount_options(levels)
        if site.devices:
            (device,) = site.devices
            yield named_device.named_device(site.role, device, site.name, size_bytes + named_device.AT_END)
            mount = device_mount.DeviceMount(site.path, device)
            words = self.words_on(device, size_bytes)
            yield device_mount.device_mount(site.role, mount, site.name, self.name, options, site.uid, words)
            return
        image = f"{site.directory}/store.image"
        yield image_file(site.role, image, size_bytes, self.make_words)
        yield image_mount(site.role, site.path, image, self.name, options, site.uid)


def parse_which_disk(text: str) -> tuple[str, str]:
    """On what it lies, of the first line, and all others. Raises ValueError."""
    first, _, rest = text.partition("\n")
    if first not in (f"disk {IMAGE}", f"disk {NAMED}"):
        raise ValueError("not told what it lies on")
    return first.removeprefix("disk "), rest
