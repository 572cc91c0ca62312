"""APFS in a disk image of a Mac."""

from collections.abc import Mapping

from lab.design.payload_size import MIB
from lab.hosts.command import Command, script
from lab.platforms.macos.disk_images import MAKE_APFS
from lab.platforms.macos.parsers import parse_volume
from lab.platforms.part import Part
from lab.settings.operation import Setting
from lab.stores.mac_volume import MacVolume, image_volume
from lab.stores.store import Room, Site

PERSONALITIES = {"insensitive": "APFS", "sensitive": "Case-sensitive APFS"}


class Apfs(MacVolume):
    """A container with one volume. macOS has had it since 10.13."""

    name = "apfs"
    about = "APFS in a disk image of the lab's own, on a Mac (10.13 and later)."
    least_bytes = 64 * MIB
    leaves = Room(0.92, 32 * MIB)

    def find_lack(self, levels: Mapping[str, str]) -> Command:
        return script("diskutil apfs list >/dev/null 2>&1 || echo APFS")

    def volume(self, site: Site, place: str, device: str, levels: Mapping[str, str]) -> Setting:
        personality = PERSONALITIES[levels.get("case", "insensitive")]
        printed = site.host.shell(MAKE_APFS, device, personality, deadline_s=120)
        return image_volume(site, place, self.name, Part(site.host).parse(parse_volume, printed))


STORE = Apfs()
