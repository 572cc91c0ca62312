"""OpenZFS on OS X (O3X): a pool in a disk image, on a Mac that has O3X installed."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from lab.base.scripts import read_script
from lab.base.untrusted import count, word
from lab.design.option_levels import Option, one_of, whole
from lab.design.payload_size import MIB
from lab.hosts.command import Command, script
from lab.hosts.mounts import real_path
from lab.settings.operation import Setting
from lab.stores import mac_pool
from lab.stores.mac_volume import COMMON, IMAGE_FACTS, MacVolume, parse_image
from lab.stores.store import Facts, Room, Site
from lab.stores.zfs import SLOP_BYTES, WITHOUT_SLOP, compression

USUAL_ASHIFT = "12"
VALUE = re.compile(r"^[^\t\n]+\t(ashift|casesensitivity|compression)\t([^\t\n]+)\t", re.MULTILINE)
MIMIC = re.compile(r"^mimic (on|off)$", re.MULTILINE)
VERSION = re.compile(r"^version ([0-9a-zA-Z._+-]{1,60})$", re.MULTILINE)


class O3x(MacVolume):
    """A pool on one image. It compares names like HFS+: decomposed, and by default without case."""

    name = "o3x"
    about = "A pool of OpenZFS on OS X (O3X) in a disk image of the lab's own, on a Mac where that is installed."
    least_bytes = 512 * MIB
    leaves = Room(WITHOUT_SLOP, SLOP_BYTES + 16 * MIB)  # without the partition map and ZFS's own labels
    facts_script = mac_pool.FUNCTIONS + read_script(__file__, "o3x_facts.sh") + IMAGE_FACTS
    options = MappingProxyType(
        COMMON
        | {
            "ashift": Option(
                whole(9, 16),
                "The size of a sector as a power of two: 9 is 512 bytes, 12 is 4 KiB, 13 is 8 KiB. By default 12.",
            ),
            "compression": Option(
                compression,
                "What compresses the data; what an O3X does not know, it refuses. The lab's payload does not compress, "
                "so that this is the price of trying.",
            ),
            "mimic": Option(
                one_of("on", "off"),
                "Whether its volume is shown as HFS+ (`com.apple.mimic`), without which AFP does not share it: by "
                "default `on` where macOS has an AFP server (10.15 and older), and `off` later.",
            ),
        }
    )

    def find_lack(self, levels: Mapping[str, str]) -> Command:
        """See :meth:`FileSystem.find_lack`: its programs and its kernel extension."""
        return script(mac_pool.LACK)

    def volume(self, site: Site, place: str, device: str, levels: Mapping[str, str]) -> Setting:
        words = create_options(levels)
        return mac_pool.pool_volume(site, _pool(site, place, levels), device, levels.get("mimic", ""), words)

    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        levels = parse_o3x(printed)
        version = VERSION.search(printed)
        shown = "shown as hfs" if levels["mimic"] == "on" else "shown as zfs"
        details = f"case-{levels['case']}, {levels['image']}, ashift {levels['ashift']}, {shown}"
        return Facts(f"o3x {version[1] if version else 'of unknown version'}, {details}", levels)

    def forget(self, site: Site, levels: Mapping[str, str]) -> Command:
        return mac_pool.forget(_pool(site, real_path(site.host, site.path), levels))

    def find_fault(self, site: Site) -> Command:
        return script(mac_pool.FAULT, site.name)


def create_options(levels: Mapping[str, str]) -> tuple[str, ...]:
    """Options of ``zpool create``. With ``failmode=continue``, writers get an error and do not wait for the disk."""
    pool = {"cachefile": "none", "failmode": "continue", "ashift": levels.get("ashift", USUAL_ASHIFT)}
    mounted = {"casesensitivity": levels.get("case", "insensitive"), "normalization": "formD"}
    mounted |= {"setuid": "off", "devices": "off", "atime": "off"}
    mounted |= {"compression": levels["compression"]} if "compression" in levels else {}
    options = [("-o", f"{key}={value}") for key, value in pool.items()]
    options += [("-O", f"{key}={value}") for key, value in mounted.items()]
    return tuple(text for pair in options for text in pair)


def parse_o3x(text: str) -> dict[str, str]:
    """The levels of all options, from what zpool, zfs and mount print. Raises ValueError."""
    values, shown = dict(VALUE.findall(text)), MIMIC.findall(text)
    if len(values) != 3 or len(shown) != 1:
        raise ValueError("no ashift, casesensitivity, compression, or type of its mount")
    return {
        "image": parse_image(text), "case": word(values["casesensitivity"]), "mimic": str(shown[0]),
        "ashift": str(count(values["ashift"])), "compression": word(values["compression"]),
    }  # fmt: skip


def _pool(site: Site, place: str, levels: Mapping[str, str]) -> mac_pool.MacPool:
    """The pool has the random name of the lab's folder, so that a list of pools shows whose it is."""
    return mac_pool.MacPool(site.name, f"{place}.{levels.get('image', 'sparseimage')}", place)


STORE = O3x()
