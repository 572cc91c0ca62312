"""RAM disks of macOS: an image in memory, a file system on it, and a mount. Facts: docs/reference/platforms.md."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.hosts.command import Command, command, script
from lab.hosts.interpreter import run_script
from lab.hosts.mounts import is_mounted_on_mac
from lab.platforms.macos.parsers import (
    SECTOR_BYTES,
    image_sectors,
    parse_images,
    parse_vm_stat,
    parse_volume,
    prove_ours,
)
from lab.platforms.ram_disk import FOLDER, RamDisk, RamDisks
from lab.settings.operation import Operation
from lab.settings.parameters import OwnPath
from lab.settings.setting import Setting

IMAGES = ("hdiutil", "info", "-plist")
# $1 ram://SECTORS. hdiutil refuses to attach while it is busy with another image, for a moment
ATTACH = """
for try in 1 2 3; do hdiutil attach -nomount "$1" && exit; sleep 2; done
echo "no RAM image after three tries: end what works on disk images there (Disk Utility, installers), or restart it" >&2
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


@dataclass(frozen=True)
class RamImage(Operation):
    """A RAM image of a Mac, found by its size and by who attached it; detached unless it is mounted elsewhere."""

    kind = "ram-image"
    values = "absent|attached"

    sectors: Annotated[int, Field(ge=1, le=2**40)]
    """Its size in sectors of 512 bytes."""
    place: OwnPath
    """Where it is mounted."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"RAM image ram://{self.sectors}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return self._find("state", 60)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (self._find("detach", 180),)

    def _find(self, act: str, deadline_s: float) -> Command:
        return command(*run_script(ATTACHED_IMAGE, act, f"ram://{self.sectors}", self.place), deadline_s=deadline_s)


@dataclass(frozen=True)
class RamVolume(RamDisk):
    """The file system of a RAM image of a Mac, mounted at a folder of the lab's own."""

    kind = "ram-volume"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return is_mounted_on_mac(self.path)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT, self.path, root=True, deadline_s=120),)


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
            raise LabFailure(f"something is mounted at {place} already", "unmount it", host=self.host.role)
        uid = self.uid()
        sectors = image_sectors(size_bytes, place, {image.path for image in self.read(parse_images, *IMAGES)})
        free = self.read(parse_vm_stat, "vm_stat")
        if sectors * SECTOR_BYTES > free:
            raise LabFailure(
                f"a RAM disk of {size_bytes / 2**20:.0f} MiB does not fit: {free / 2**20:.0f} MiB of memory are free",
                "lower ram_disk in the hosts file, or the sweep's size",
                host=self.host.role,
            )
        yield self._ram_image(sectors, place)
        device = self.read(lambda text: prove_ours(parse_images(text), sectors, uid), *IMAGES)
        kind = "apfs" if layout == "apfs" else "hfs"
        mount = mount_volume(kind, self._format(device, layout), place)
        mode = "700" if private else "1777"
        yield Setting(self.host.role, RamVolume(place), "mounted", (mount, leave_alone(place, uid, mode)))
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

    def _ram_image(self, sectors: int, place: str) -> Setting:
        attach = script(ATTACH, f"ram://{sectors}", deadline_s=120)
        return Setting(self.host.role, RamImage(sectors, place), "attached", (attach,))


def mount_volume(kind: str, device: str, place: str) -> Command:
    """The command that mounts a volume of this kind, on a device, at a folder."""
    return command("mount", "-t", kind, "-o", "noatime", device, place, root=True)


def leave_alone(place: str, uid: int, mode: str) -> Command:
    """The command after which nothing indexes a volume, and its folder is an account's and has this mode."""
    return script(LEAVE_ALONE, place, str(uid), mode, root=True)
