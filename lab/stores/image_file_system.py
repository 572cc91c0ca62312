"""A Linux file system in one image file over a loop device, or on a disk or partition that the user named."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

from lab.base.scripts import read_script
from lab.design.option_levels import Option, one_of
from lab.hosts.command import Command
from lab.settings.operation import Setting
from lab.stores import mounts, named_device
from lab.stores.operations import KernelModule, LoopModule
from lab.stores.store import FILLABLE, Facts, FileSystem, Room, Site

USABLE = 0.85  # share of an image: btrfs, with two copies of metadata, leaves 0.89 of 2 GiB
IMAGE, NAMED = "image", "named"
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
        return named_device.find_fault(site.devices) if site.devices else None

    def steps(self, site: Site, size_bytes: int, levels: Mapping[str, str]) -> Iterator[Setting]:
        options = self.mount_options(levels)
        if site.devices:
            (device,) = site.devices
            yield named_device.named_device(site.role, device, site.name, size_bytes + named_device.AT_END)
            mount, words = mounts.DeviceMount(site.path, device), self.words_on(device, size_bytes)
            yield mounts.device_mount(site.role, mount, site.name, self.name, options, site.uid, words)
            return
        image = f"{site.directory}/store.image"
        yield mounts.image_file(site.role, image, size_bytes, self.make_words)
        yield mounts.image_mount(site.role, site.path, image, self.name, options, site.uid)


def parse_which_disk(text: str) -> tuple[str, str]:
    """The kind of disk, from the first line, and the other lines. Raises ValueError."""
    first, _, rest = text.partition("\n")
    if first not in (f"disk {IMAGE}", f"disk {NAMED}"):
        raise ValueError("not told what it lies on")
    return first.removeprefix("disk "), rest
