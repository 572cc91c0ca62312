"""HFS+ in a disk image of a Mac."""

from collections.abc import Mapping
from types import MappingProxyType

from lab.design.option_levels import Option, one_of
from lab.design.payload_size import MIB
from lab.settings.operation import Setting
from lab.stores.mac_volume import COMMON, MacVolume, image_volume
from lab.stores.store import Facts, Room, Site

ABOUT_JOURNAL = "Whether changes of names and sizes go through a journal: they do by default, as on any disk of a Mac."


class Hfs(MacVolume):
    """HFS+ as Disk Utility makes it, with a journal."""

    name = "hfs"
    about = "HFS+ (Mac OS Extended) in a disk image of the lab's own, on a Mac."
    least_bytes = 32 * MIB
    leaves = Room(0.95, 16 * MIB)  # without the journal, and newfs_hfs's catalog and attributes files
    options = MappingProxyType({**COMMON, "journal": Option(one_of("on", "off"), ABOUT_JOURNAL)})

    def find_lack(self, levels: Mapping[str, str]) -> None:
        """See :meth:`FileSystem.find_lack`: every macOS has it."""

    def volume(self, site: Site, place: str, device: str, levels: Mapping[str, str]) -> Setting:
        journal = () if levels.get("journal") == "off" else ("-J",)
        case = ("-s",) if levels.get("case") == "sensitive" else ()
        site.host.run("newfs_hfs", *journal, *case, "-v", "lab", device.replace("/dev/", "/dev/r"), deadline_s=120)
        return image_volume(site, place, self.name, device)

    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        """See :meth:`FileSystem.read_facts`: the mount table tells of a journal."""
        facts = super().read_facts(printed, mounted_with)
        journal = "on" if "journaled" in mounted_with else "off"
        return Facts(facts.description, {**facts.levels, "journal": journal})


STORE = Hfs()
