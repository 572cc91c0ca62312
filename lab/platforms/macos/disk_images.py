"""Disk images of a Mac: attached, found, mounted, put back; RAM disks on them. Facts: docs/reference/platforms.md."""

from abc import abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.hosts.command import Command, command, run_perl, script
from lab.hosts.mounts import is_mounted_on_mac
from lab.platforms.macos import parsers
from lab.platforms.ram_disk import FOLDER, RamDisks
from lab.settings.operation import MountedOnMac, Operation, Setting
from lab.settings.parameters import OwnPath

IMAGES = ("hdiutil", "info", "-plist")
# $1 ram://SECTORS or a file. hdiutil refuses to attach while it is busy with another image, for a moment
ATTACH = """
for try in 1 2 3; do hdiutil attach -nomount "$1" && exit; sleep 2; done
echo "no image after three tries: end what works on disk images there (Disk Utility, installers), or restart it" >&2
exit 1
"""
IMAGES_OF_HDIUTIL = read_script(__file__, "images.pl")
ATTACHED_IMAGE = IMAGES_OF_HDIUTIL + read_script(__file__, "attached_image.pl")
MAKE_APFS = read_script(__file__, "make_apfs.sh")
# No Spotlight and no log of changes, which would both write to the disk while it is measured.
LEAVE_ALONE = """
touch "$1/.metadata_never_index" && mkdir -p "$1/.fseventsd" &&
    touch "$1/.fseventsd/no_log" &&
    chown "$2" "$1" && chmod "$3" "$1" || exit
mdutil -i off "$1" >/dev/null 2>&1
case $(mdutil -s "$1" 2>&1) in *"Indexing enabled"*) echo "Spotlight still indexes $1" >&2; exit 1 ;; esac
"""
UNMOUNT = 'for try in 1 2 3; do umount "$1" && exit; sleep 1; done; umount -f "$1"'


class AttachedImage(Operation):
    """An image that is attached, found by its source and who attached it; detached unless it is mounted elsewhere.

    No dataclass: the fields of a record keep the order that installed helpers know.
    """

    values = "absent|attached"

    place: OwnPath
    """Where it is mounted."""

    @property
    @abstractmethod
    def source(self) -> str:
        """What hdiutil calls it by: ``ram://SECTORS``, or its file without links."""

    def read(self) -> Command:
        return self._find("state", 60)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (self._find("detach", 180),)

    def _find(self, act: str, deadline_s: float) -> Command:
        return command(*run_perl(ATTACHED_IMAGE, act, self.source, self.place), deadline_s=deadline_s)


@dataclass(frozen=True)
class MountedVolume(MountedOnMac):
    """The volume of an image, mounted."""

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT, self.path, root=True, deadline_s=120),)


def mount_volume(kind: str, device: str, place: str) -> Command:
    """The command that mounts a volume of this kind, on a device, at a folder."""
    return command("mount", "-t", kind, "-o", "noatime", device, place, root=True)


def leave_alone(place: str, uid: int, mode: str) -> Command:
    """The command after which nothing indexes a volume, and its folder is an account's and has this mode."""
    return script(LEAVE_ALONE, place, str(uid), mode, root=True)


@dataclass(frozen=True)
class RamImage(AttachedImage):
    """A RAM image of a Mac, found by its size."""

    kind = "ram-image"
    label_format = "RAM image ram://{sectors}"

    sectors: Annotated[int, Field(ge=1, le=2**40)]
    """Its size in sectors of 512 bytes."""
    place: OwnPath
    """Where it is mounted."""

    @property
    def source(self) -> str:
        return f"ram://{self.sectors}"


@dataclass(frozen=True)
class RamVolume(MountedVolume):
    """The file system of a RAM image of a Mac, mounted at a folder of the lab's own."""

    kind = "ram-volume"
    label_format = "RAM disk {path}"


class MacRamDisks(RamDisks):
    """Makes RAM disks on a Mac."""

    formats = ("hfs", "hfs-case", "apfs", FOLDER)

    def make(
        self, path: str, size_bytes: int, layout: str | None = None, private: bool = False
    ) -> Generator[Setting, None, str]:
        """A RAM image, with HFS+ unless ``layout`` says otherwise; up to 2.5 % of it are the file system's own."""
        self.check(layout)
        if layout == FOLDER:
            return self.describe_folder(path)
        place = self.host.shell('cd "$1" && pwd -P', path).stdout.rstrip("\n")  # as mount and hdiutil print it
        if is_mounted_on_mac(place).run(self.host) != "absent":
            raise LabFailure(f"something is mounted at {place} already", "unmount it", host=self.host.name)
        uid = self.uid()
        taken = {image.path for image in self.read(parsers.parse_images, *IMAGES)}
        sectors = parsers.image_sectors(size_bytes, place, taken)
        free_bytes = self.read(parsers.parse_memory, "vm_stat").available_bytes
        self.check_fits(size_bytes, free_bytes, overhead_bytes=sectors * parsers.SECTOR_BYTES - size_bytes)
        attach = script(ATTACH, f"ram://{sectors}", deadline_s=120)
        yield Setting(self.host.name, RamImage(sectors, place), "attached", (attach,))
        image = f"ram://{sectors}"
        device = self.read(lambda text: parsers.prove_ours(parsers.parse_images(text), image, sectors, uid), *IMAGES)
        kind = "apfs" if layout == "apfs" else "hfs"
        mount = mount_volume(kind, self._format(device, layout), place)
        mode = "700" if private else "1777"
        yield Setting(self.host.name, RamVolume(place), "mounted", (mount, leave_alone(place, uid, mode)))
        return layout or self.formats[0]

    def _format(self, device: str, layout: str | None) -> str:
        """The device of the new volume. Not as root: a user may write only to RAM images that are their own."""
        if layout == "apfs":
            return self.parse(parsers.parse_volume, self.host.shell(MAKE_APFS, device, "APFS", deadline_s=120))
        case = ("-s",) if layout == "hfs-case" else ()
        self.host.run("newfs_hfs", *case, "-v", "lab", device.replace("/dev/", "/dev/r"), deadline_s=120)
        return device
