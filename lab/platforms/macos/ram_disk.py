"""RAM disks of macOS: an image in memory, a file system on it, and a mount. Facts: docs/reference/platforms.md."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from lab.base.errors import LabFailure
from lab.hosts.command import script
from lab.hosts.mounts import is_mounted_on_mac
from lab.platforms.macos.disk_images import (
    ATTACH,
    IMAGES,
    MAKE_APFS,
    AttachedImage,
    MountedVolume,
    leave_alone,
    mount_volume,
)
from lab.platforms.macos.parsers import (
    SECTOR_BYTES,
    image_sectors,
    parse_images,
    parse_memory,
    parse_volume,
    prove_ours,
)
from lab.platforms.ram_disk import FOLDER, RamDisk, RamDisks
from lab.settings.parameters import OwnPath
from lab.settings.setting import Setting


@dataclass(frozen=True)
class RamImage(AttachedImage):
    """A RAM image of a Mac, found by its size."""

    kind = "ram-image"

    sectors: Annotated[int, Field(ge=1, le=2**40)]
    """Its size in sectors of 512 bytes."""
    place: OwnPath
    """Where it is mounted."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"RAM image {self.source}"

    @property
    def source(self) -> str:
        """See :attr:`AttachedImage.source`."""
        return f"ram://{self.sectors}"


@dataclass(frozen=True)
class RamVolume(MountedVolume, RamDisk):
    """The file system of a RAM image of a Mac, mounted at a folder of the lab's own."""

    kind = "ram-volume"


class MacRamDisks(RamDisks):
    """Makes RAM disks on a Mac."""

    formats = ("hfs", "hfs-case", "apfs", FOLDER)

    def make(
        self, path: str, size_bytes: int, layout: str | None = None, private: bool = False
    ) -> Generator[Setting, None, str]:
        """A RAM image, with HFS+ unless ``layout`` says otherwise; up to 2.5 % of it are the file system's own.

        The device is written to only after hdiutil says that it is the image just attached, by us, of just this size,
        and that nothing of it is mounted. Its memory is taken as it fills, so what is free is checked first.
        """
        self.check(layout)
        if layout == FOLDER:
            return self.describe_folder(path)
        place = self.host.shell('cd "$1" && pwd -P', path).stdout.rstrip("\n")  # as mount and hdiutil print it
        if is_mounted_on_mac(place).run(self.host) != "absent":
            raise LabFailure(f"something is mounted at {place} already", "unmount it", host=self.host.name)
        uid = self.uid()
        sectors = image_sectors(size_bytes, place, {image.path for image in self.read(parse_images, *IMAGES)})
        free_bytes = self.read(parse_memory, "vm_stat").available_bytes
        self.check_fits(size_bytes, free_bytes, overhead_bytes=sectors * SECTOR_BYTES - size_bytes)
        attach = script(ATTACH, f"ram://{sectors}", deadline_s=120)
        yield Setting(self.host.name, RamImage(sectors, place), "attached", (attach,))
        device = self.read(lambda text: prove_ours(parse_images(text), f"ram://{sectors}", sectors, uid), *IMAGES)
        kind = "apfs" if layout == "apfs" else "hfs"
        mount = mount_volume(kind, self._format(device, layout), place)
        mode = "700" if private else "1777"
        yield Setting(self.host.name, RamVolume(place), "mounted", (mount, leave_alone(place, uid, mode)))
        return layout or self.formats[0]

    def _format(self, device: str, layout: str | None) -> str:
        """The device of the new volume on a RAM image; what is made there goes with the image.

        Not as root: a user may write to the RAM images that are their own, and to no other disk.
        """
        if layout == "apfs":
            return self.parse(parse_volume, self.host.shell(MAKE_APFS, device, "APFS", deadline_s=120))
        case = ("-s",) if layout == "hfs-case" else ()
        self.host.run("newfs_hfs", *case, "-v", "lab", device.replace("/dev/", "/dev/r"), deadline_s=120)
        return device
