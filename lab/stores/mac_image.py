"""A disk image of a Mac with a volume in it: what is changed for one, and put back.

Only an image that the lab has just made itself is ever formatted, and not as root: a user may write to the images that
they attached, and to no other disk.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, command, script
from lab.hosts.interpreter import run_script, shell_function
from lab.hosts.mounts import is_mounted_on_mac, real_path
from lab.platforms.macos.ram_disk import ATTACH, ATTACHED_IMAGE, UNMOUNT, leave_alone, mount_volume
from lab.settings.operation import Operation
from lab.settings.parameters import OwnPath
from lab.settings.setting import Setting
from lab.stores.image import DEADLINE_S, IS_THERE
from lab.stores.store import Site

# $1 the image, which is not there yet, $2 its sectors, $3 its type. Without a map of partitions it is one device
CREATE = 'umask 077 && hdiutil create -quiet -sectors "$2" -type "$3" -layout NONE "$1" && chmod -R go= "$1"'
# $1 the image, $2 where its volume is to be mounted. One that could not be found again would stay attached
ATTACH_AND_FIND = (
    shell_function("image", ATTACHED_IMAGE)
    + f"attached=$({ATTACH}) || exit\n"
    + read_script(__file__, "mac_image_find.sh")
)
SECTOR_BYTES = 512
TYPES = {"sparseimage": "SPARSE", "sparsebundle": "SPARSEBUNDLE", "dmg": "UDIF"}  # by the ending of its name


@dataclass(frozen=True)
class DiskImage(Operation):
    """A disk image in a folder of the lab's own, a file or a folder of bands; it stays while it is attached."""

    kind = "disk-image"
    values = "absent|present"
    volatile = False
    holds = True

    path: OwnPath
    """Where it is."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"disk image {self.path}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(IS_THERE, self.path)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (command("rm", "-rf", "--", self.path, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class AttachedImage(Operation):
    """A disk image that is attached, found by its file and by who attached it; detached unless mounted elsewhere."""

    kind = "attached-image"
    values = "absent|attached"
    holds = True

    image: OwnPath
    """The file, without links."""
    place: OwnPath
    """Where its volume is mounted."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"attached image {self.image}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return self._find("state", 60)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (self._find("detach", 180),)

    def _find(self, act: str, deadline_s: float) -> Command:
        return command(*run_script(ATTACHED_IMAGE, act, self.image, self.place), deadline_s=deadline_s)


@dataclass(frozen=True)
class ImageVolume(Operation):
    """The volume of a disk image, mounted at a folder of the lab's own."""

    kind = "image-volume"
    values = "absent|mounted"

    path: OwnPath
    """Where it is mounted, without links."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"volume {self.path}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return is_mounted_on_mac(self.path)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT, self.path, root=True, deadline_s=DEADLINE_S),)


def new_image(site: Site, size_bytes: int, ending: str) -> Generator[Setting, None, str]:
    """A new image of a type of TYPES, attached. Returns its device, which hdiutil says is empty and this account's."""
    directory, place = real_path(site.host, site.directory), real_path(site.host, site.path)
    image = f"{directory}/store.{ending}"
    yield _disk_image(site.role, image, size_bytes, TYPES[ending])
    yield _attached_image(site.role, image, place)
    return site.host.run(*run_script(ATTACHED_IMAGE, "new", image, place)).stdout.strip()


def image_volume(site: Site, kind: str, device: str) -> Setting:
    """The volume of a device, mounted for the account; all may write there, as on a RAM disk."""
    place = real_path(site.host, site.path)
    mount = (mount_volume(kind, device, place), leave_alone(place, site.uid, "1777"))
    return Setting(site.role, ImageVolume(place), "mounted", mount, "see what `diskutil list` prints there")


def _disk_image(role: str, image: str, size_bytes: int, kind: str) -> Setting:
    create = script(CREATE, image, str(size_bytes // SECTOR_BYTES), kind, deadline_s=DEADLINE_S)
    remedy = "see what is there, and that its disk can be written to"
    return Setting(role, DiskImage(image), "present", (create,), remedy, before="absent")


def _attached_image(role: str, image: str, place: str) -> Setting:
    attach = script(ATTACH_AND_FIND, image, place, deadline_s=DEADLINE_S)
    return Setting(role, AttachedImage(image, place), "attached", (attach,), "see what `hdiutil info` prints there")
