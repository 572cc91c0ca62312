"""RAM disks of macOS: an image in memory, a file system on it, and a mount. Facts: docs/reference/platforms.md."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from lab.base.errors import LabFailure, Unsupported
from lab.base.untrusted import count
from lab.hosts.command import Command, command, script
from lab.hosts.mounts import is_mounted_on_mac
from lab.platforms.macos.parsers import (
    SECTOR_BYTES,
    image_sectors,
    parse_images,
    parse_vm_stat,
    parse_volume,
    prove_ours,
)
from lab.platforms.platform import Platform
from lab.settings.setting import Setting

IMAGES = ("hdiutil", "info", "-plist")
# It may be busy for a moment
ATTACH = """
for try in 1 2 3; do hdiutil attach -nomount "$1" && exit; sleep 2; done
echo "no RAM image after three tries: end what works on disk images there (Disk Utility, installers), or restart it" >&2
exit 1
"""
RAM_IMAGE = Path(__file__).with_name("ram_image.pl").read_text(encoding="utf-8")
# $1 the RAM image's device; prints that of its volume, which is on another disk that is made up. It is not mounted yet:
# diskutil would choose the place.
MAKE_APFS = """
operation() {
    said=$(diskutil apfs "$@" 2>&1); disk=$(echo "$said" | sed -n 's/^Disk from APFS operation: *//p')
    [ -n "$disk" ] || { echo "$said" >&2; exit 1; }
}
operation createContainer "$1"
operation addVolume "$disk" APFS lab -nomount
echo "/dev/$disk"
"""
# No Spotlight and no log of changes, which would both write to the disk while it is measured.
LEAVE_ALONE = """
touch "$1/.metadata_never_index" && mkdir -p "$1/.fseventsd" && touch "$1/.fseventsd/no_log" && chmod 1777 "$1" || exit
mdutil -i off "$1" >/dev/null 2>&1
case $(mdutil -s "$1" 2>&1) in *"Indexing enabled"*) echo "Spotlight still indexes $1" >&2; exit 1 ;; esac
"""
UNMOUNT = 'for try in 1 2 3; do umount "$1" && exit; sleep 1; done; umount -f "$1"'


class RamDisks(Platform):
    """The part of a Mac that makes RAM disks."""

    ram_disk_formats = ("hfs", "hfs-case", "apfs")

    def check_ram_disk(self, layout: str | None, serves: str = "") -> None:
        """See :meth:`Platform.check_ram_disk`. The AFP server takes volumes of HFS+ only."""
        super().check_ram_disk(layout, serves)
        if (layout, serves) == ("apfs", "afp"):
            raise Unsupported(
                f"{self.host.role}: AFP cannot share APFS: ram_disk_format = hfs in [{self.host.role}], "
                f"or take afp out of the sweep"
            )

    def ram_disk(self, path: str, size_bytes: int, layout: str | None = None) -> Generator[Setting, None, str]:
        """A RAM image, with HFS+ unless ``layout`` says otherwise; up to 2.5 % of it are the file system's own.

        The device is written to only after hdiutil says that it is the image just attached, by us, of just this size,
        and that nothing of it is mounted. Its memory is taken as it fills, so what is free is checked first.
        """
        self.check_ram_disk(layout)
        place = self.host.shell('cd "$1" && pwd -P', path).stdout.rstrip("\n")  # as mount and hdiutil print it
        if is_mounted_on_mac(place).run(self.host) != "absent":
            raise LabFailure(f"{self.host.role}: something is mounted at {place} already; unmount it")
        uid = self._read(lambda text: count(text.strip()), "id", "-u")
        sectors = image_sectors(size_bytes, place, {image.path for image in self._read(parse_images, *IMAGES)})
        free = self._read(parse_vm_stat, "vm_stat")
        if sectors * SECTOR_BYTES > free:
            raise LabFailure(
                f"{self.host.role}: a RAM disk of {size_bytes / 2**20:.0f} MiB does not fit: "
                f"{free / 2**20:.0f} MiB of memory are free; lower ram_disk in the hosts file, or the sweep's size"
            )
        yield self._ram_image(sectors, place)
        device = self._read(lambda text: prove_ours(parse_images(text), sectors, uid), *IMAGES)
        yield self._ram_volume(self._formatted(device, layout), place, "apfs" if layout == "apfs" else "hfs")
        return layout or self.ram_disk_formats[0]

    def _formatted(self, device: str, layout: str | None) -> str:
        """The device of the new volume on a RAM image; what is made there goes with the image.

        Not as root: a user may write to the RAM images that are their own, and to no other disk.
        """
        if layout == "apfs":
            return self._parsed(parse_volume, self.host.shell(MAKE_APFS, device, deadline_s=120))
        case = ("-s",) if layout == "hfs-case" else ()
        self.host.run("newfs_hfs", *case, "-v", "lab", device.replace("/dev/", "/dev/r"), deadline_s=120)
        return device

    def _ram_image(self, sectors: int, place: str) -> Setting:
        def find(act: str, deadline_s: float) -> Command:
            return command("perl", "-e", RAM_IMAGE, act, str(sectors), place, deadline_s=deadline_s)

        return Setting(
            host=self.host.role,
            name=f"RAM image ram://{sectors}",
            read=find("state", 60),
            wanted="attached",
            apply=(script(ATTACH, f"ram://{sectors}", deadline_s=120),),
            undo=lambda _: (find("detach", 180),),
        )

    def _ram_volume(self, device: str, place: str, kind: str) -> Setting:
        return Setting(
            host=self.host.role,
            name=f"RAM disk {place}",
            read=is_mounted_on_mac(place),
            wanted="mounted",
            apply=(
                command("mount", "-t", kind, "-o", "noatime", device, place, root=True),
                script(LEAVE_ALONE, place, root=True),
            ),
            undo=lambda _: (script(UNMOUNT, place, root=True, deadline_s=120),),
        )
