"""A disk image of a Mac with a volume in it: what is changed for one, and put back.

Only an image that the lab has just made itself is ever formatted, and not as root: a user may write to the images that
they attached, and to no other disk.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, command, script
from lab.hosts.perl import shell_function
from lab.platforms.macos.disk_images import (
    ATTACH,
    ATTACHED_IMAGE,
    IMAGES,
    AttachedImage,
    MountedVolume,
    leave_alone,
    mount_volume,
)
from lab.platforms.macos.parsers import SECTOR_BYTES, parse_images, prove_ours
from lab.platforms.part import Part
from lab.settings.parameters import OwnPath
from lab.settings.setting import Setting
from lab.stores.store import Site
from lab.stores.store_files import DEADLINE_S, StoreFiles

# $1 the image, which is not there yet, $2 its sectors, $3 its type. Without a map of partitions it is one device
CREATE = 'umask 077 && hdiutil create -quiet -sectors "$2" -type "$3" -layout NONE "$1" && chmod -R go= "$1"'
# $1 the image, $2 where its volume is to be mounted. One that could not be found again would stay attached
ATTACH_AND_FIND = (
    shell_function("image", ATTACHED_IMAGE)
    + f"attached=$({ATTACH}) || exit\n"
    + read_script(__file__, "mac_image_find.sh")
)
TYPES = {"sparseimage": "SPARSE", "sparsebundle": "SPARSEBUNDLE", "dmg": "UDIF"}  # by the ending of its name


@dataclass(frozen=True)
class DiskImage(StoreFiles):
    """A disk image in a folder of the lab's own, a file or a folder of bands."""

    kind = "disk-image"

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"disk image {self.path}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (command("rm", "-rf", "--", self.path, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class FileImage(AttachedImage):
    """A disk image in a file, attached."""

    kind = "attached-image"
    holds = True

    image: OwnPath
    """The file, without links."""
    place: OwnPath
    """Where it is mounted."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"attached image {self.image}"

    @property
    def source(self) -> str:
        """See :attr:`AttachedImage.source`."""
        return self.image


@dataclass(frozen=True)
class ImageVolume(MountedVolume):
    """The volume of a disk image, mounted at a folder of the lab's own."""

    kind = "image-volume"

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"volume {self.path}"


def new_image(site: Site, place: str, size_bytes: int, ending: str) -> Generator[Setting, None, str]:
    """A new image of a type of TYPES beside its mount point ``place``, attached. Returns its device.

    hdiutil says that it is empty and that the account attached it. Raises LabFailure.
    """
    image, sectors = f"{place}.{ending}", size_bytes // SECTOR_BYTES
    yield _disk_image(site.role, image, sectors, TYPES[ending])
    yield _attached_image(site.role, image, place)
    return Part(site.host).read(lambda text: prove_ours(parse_images(text), image, sectors, site.uid), *IMAGES)


def image_volume(site: Site, place: str, kind: str, device: str) -> Setting:
    """The volume of a device, mounted for the account; all may write there, as on a RAM disk."""
    mount = (mount_volume(kind, device, place), leave_alone(place, site.uid, "1777"))
    return Setting(site.role, ImageVolume(place), "mounted", mount, "see what `diskutil list` prints there")


def _disk_image(role: str, image: str, sectors: int, kind: str) -> Setting:
    create = script(CREATE, image, str(sectors), kind, deadline_s=DEADLINE_S)
    remedy = "see what is there, and that its disk can be written to"
    return Setting(role, DiskImage(image), "present", (create,), remedy, before="absent")


def _attached_image(role: str, image: str, place: str) -> Setting:
    attach = script(ATTACH_AND_FIND, image, place, deadline_s=DEADLINE_S)
    return Setting(role, FileImage(image, place), "attached", (attach,), "see what `hdiutil info` prints there")
