"""A volume in a disk image on a Mac.

The lab formats only an image that it has just made, and not as root: an account may write to images that it attached,
and to no other disk.
"""

import re
from abc import abstractmethod
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.design.option_levels import Option, one_of
from lab.hosts.command import Command, command, script, shell_function
from lab.hosts.mounts import parse_mount_lines, real_path
from lab.platforms.macos import disk_images
from lab.platforms.macos.mounts import parse_case_sensitive
from lab.platforms.macos.parsers import SECTOR_BYTES, parse_images, prove_ours
from lab.platforms.part import Part
from lab.settings.operation import Setting
from lab.settings.parameters import OWN_FOLDER, OwnPath
from lab.stores.operations import CANNOT_WRITE, DEADLINE_S, StoreFiles
from lab.stores.store import Facts, FileSystem, Room, Site

# $1 the new image, $2 its sectors, $3 its type. Without a partition map it is one device
CREATE = 'umask 077 && hdiutil create -quiet -sectors "$2" -type "$3" -layout NONE "$1" && chmod -R go= "$1"'
# $1 the image, $2 the mount point of its volume. An image that hdiutil does not list is detached at once
ATTACH_AND_FIND = (
    shell_function("image", disk_images.ATTACHED_IMAGE)
    + f"attached=$({disk_images.ATTACH}) || exit\n"
    + read_script(__file__, "mac_image_find.sh")
)
TYPES = {"sparseimage": "SPARSE", "sparsebundle": "SPARSEBUNDLE", "dmg": "UDIF"}  # by the ending of its name
ROW = 'place=$(cd "$1" && pwd -P) && mount | grep -F " on $place ("'
# $1 the mount point. The image tells its type by its first bytes, or by being a folder; its name is not proof
IMAGE_FACTS = """
for image in "$1".*; do
    if [ -d "$image" ]; then echo "image sparsebundle"
    elif [ "$(head -c 4 "$image")" = sprs ]; then echo "image sparseimage"
    elif [ -f "$image" ]; then echo "image dmg"; fi
done
"""
FACTS = f'diskutil info -plist "$1" || exit{IMAGE_FACTS}'
IMAGE = re.compile(r"^image (sparseimage|sparsebundle|dmg)$", re.MULTILINE)
SOURCE = re.compile(f"/dev/disk[0-9]+(s[0-9]+)?|{OWN_FOLDER}")  # a pool is named like the lab's folder
COMMON = MappingProxyType(
    {
        "image": Option(
            one_of(*TYPES),
            "What the image is: one file that grows (`sparseimage`, the default), a folder of bands that grows "
            "(`sparsebundle`, as for Time Machine), or a file of the full size (`dmg`).",
        ),
        "case": Option(
            one_of("insensitive", "sensitive"),
            "Whether names that differ in case alone are two: not (`insensitive`, the default), or they are.",
        ),
    }
)


class MacVolume(FileSystem):
    """A volume that the lab makes in a disk image of at least ``least_bytes`` on a Mac."""

    platform = "macos"
    programs = MappingProxyType({})
    module = None
    lies_in = "an image"
    facts_script = FACTS
    options = COMMON
    least_bytes: ClassVar[int]
    leaves: ClassVar[Room]

    @abstractmethod
    def volume(self, site: Site, place: str, device: str, levels: Mapping[str, str]) -> Setting:
        """Format an image's device, as the account, and mount its volume. Raises LabFailure."""

    def find_row(self, path: str) -> Command:
        return script(ROW, path)

    def read_row(self, printed: str) -> tuple[str, str]:
        rows = parse_mount_lines(printed)
        if len(rows) != 1 or not SOURCE.fullmatch(rows[0][0]):
            raise ValueError("no device in the table of mounts")
        return rows[0][0], first_line(",".join(rows[0][3]), 1000)

    def least_size(self, levels: Mapping[str, str]) -> int:
        return self.least_bytes

    def empty_room(self, levels: Mapping[str, str]) -> Room:
        return self.leaves

    def steps(self, site: Site, size_bytes: int, levels: Mapping[str, str]) -> Generator[Setting, None, None]:
        place = real_path(site.host, site.path)
        device = yield from new_image(site, place, size_bytes, levels.get("image", "sparseimage"))
        yield self.volume(site, place, device, levels)

    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        levels = parse_image_volume(printed)
        return Facts(f"{self.name}, case-{levels['case']}, {levels['image']}", levels)


@dataclass(frozen=True)
class DiskImage(StoreFiles):
    """A disk image in the lab's folder: a file, or a folder of bands."""

    kind = "disk-image"
    label_format = "disk image {path}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (command("rm", "-rf", "--", self.path, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class FileImage(disk_images.AttachedImage):
    """An attached disk image."""

    kind = "attached-image"
    label_format = "attached image {image}"
    holds = True

    image: OwnPath  #: The image, without links.
    place: OwnPath  #: Its mount point.

    @property
    def source(self) -> str:
        return self.image


@dataclass(frozen=True)
class ImageVolume(disk_images.MountedVolume):
    """The volume of a disk image, mounted at a folder of the lab's own."""

    kind = "image-volume"
    label_format = "volume {path}"


def new_image(site: Site, place: str, size_bytes: int, ending: str) -> Generator[Setting, None, str]:
    """Make an image beside its mount point, attach it, and return its device. Raises LabFailure unless it is ours."""
    image, sectors = f"{place}.{ending}", size_bytes // SECTOR_BYTES
    create = script(CREATE, image, str(sectors), TYPES[ending], deadline_s=DEADLINE_S)
    yield Setting(site.role, DiskImage(image), "present", (create,), CANNOT_WRITE, before="absent")
    attach = script(ATTACH_AND_FIND, image, place, deadline_s=DEADLINE_S)
    yield Setting(site.role, FileImage(image, place), "attached", (attach,), "see what `hdiutil info` prints there")
    images = disk_images.IMAGES
    return Part(site.host).read(lambda text: prove_ours(parse_images(text), image, sectors, site.uid), *images)


def image_volume(site: Site, place: str, kind: str, device: str) -> Setting:
    """Mount a device's volume for the account. All may write there, as on a RAM disk."""
    mount = (disk_images.mount_volume(kind, device, place), disk_images.leave_alone(place, site.uid, "1777"))
    return Setting(site.role, ImageVolume(place), "mounted", mount, "see what `diskutil list` prints there")


def parse_image_volume(text: str) -> dict[str, str]:
    """The levels of COMMON, from what FACTS prints. Raises ValueError."""
    plist, _, rest = text.rpartition("</plist>")
    if not plist:
        raise ValueError("no volume")
    image = parse_image(rest)
    case = "sensitive" if parse_case_sensitive(f"{plist}</plist>\n") else "insensitive"
    return {"image": image, "case": case}


def parse_image(text: str) -> str:
    """The type of the image, from what IMAGE_FACTS prints. Raises ValueError."""
    images = IMAGE.findall(text)
    if len(images) != 1:
        raise ValueError("no volume with one image")
    return str(images[0])
