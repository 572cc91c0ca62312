"""A disk image on a Mac, attached and mounted.

The lab formats only an image that it has just made, and not as root: an account may write to images that it attached,
and to no other disk.
"""

from collections.abc import Generator
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, command, script, shell_function
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
from lab.settings.operation import Setting
from lab.settings.parameters import OwnPath
from lab.stores.operations import DEADLINE_S, StoreFiles
from lab.stores.store import Site

# $1 the new image, $2 its sectors, $3 its type. Without a partition map it is one device
CREATE = 'umask 077 && hdiutil create -quiet -sectors "$2" -type "$3" -layout NONE "$1" && chmod -R go= "$1"'
# $1 the image, $2 the mount point of its volume. An image that hdiutil does not list is detached at once
ATTACH_AND_FIND = (
    shell_function("image", ATTACHED_IMAGE)
    + f"attached=$({ATTACH}) || exit\n"
    + read_script(__file__, "mac_image_find.sh")
)
TYPES = {"sparseimage": "SPARSE", "sparsebundle": "SPARSEBUNDLE", "dmg": "UDIF"}  # by the ending of its name


@dataclass(frozen=True)
class DiskImage(StoreFiles):
    """A disk image in the lab's folder: a file, or a folder of bands."""

    kind = "disk-image"

    @property
    def label(self) -> str:
        return f"disk image {self.path}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (command("rm", "-rf", "--", self.path, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class FileImage(AttachedImage):
    """An attached disk image."""

    kind = "attached-image"
    holds = True

    image: OwnPath
    """The image, without links."""
    place: OwnPath
    """Its mount point."""

    @property
    def label(self) -> str:
        return f"attached image {self.image}"

    @property
    def source(self) -> str:
        return self.image


@dataclass(frozen=True)
class ImageVolume(MountedVolume):
    """The volume of a disk image, mounted at a folder of the lab's own."""

    kind = "image-volume"

    @property
    def label(self) -> str:
        return f"volume {self.path}"


def new_image(site: Site, place: str, size_bytes: int, ending: str) -> Generator[Setting, None, str]:
    """Make an image beside its mount point ``place``, attach it, and return its device; ``ending`` is one of TYPES.

    Raises LabFailure unless hdiutil reports it as empty and attached by the account.
    """
    image, sectors = f"{place}.{ending}", size_bytes // SECTOR_BYTES
    create = script(CREATE, image, str(sectors), TYPES[ending], deadline_s=DEADLINE_S)
    remedy = "see what is there, and that its disk can be written to"
    yield Setting(site.role, DiskImage(image), "present", (create,), remedy, before="absent")
    attach = script(ATTACH_AND_FIND, image, place, deadline_s=DEADLINE_S)
    yield Setting(site.role, FileImage(image, place), "attached", (attach,), "see what `hdiutil info` prints there")
    return Part(site.host).read(lambda text: prove_ours(parse_images(text), image, sectors, site.uid), *IMAGES)


def image_volume(site: Site, place: str, kind: str, device: str) -> Setting:
    """Mount a device's volume for the account. All may write there, as on a RAM disk."""
    mount = (mount_volume(kind, device, place), leave_alone(place, site.uid, "1777"))
    return Setting(site.role, ImageVolume(place), "mounted", mount, "see what `diskutil list` prints there")
