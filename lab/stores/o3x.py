"""OpenZFS on OS X (O3X): a pool in a disk image, on a Mac that has O3X installed.

No option forces, and the pool is in no cache file. A pool is the lab's if it has the random name of the lab's folder,
and its only device is the lab's image by hdiutil. Facts: docs/reference/platforms.md.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lab.base.scripts import read_script
from lab.base.untrusted import count, word
from lab.design.option_levels import Option, one_of, whole
from lab.design.payload_size import MIB
from lab.hosts.command import Command, script
from lab.hosts.mounts import real_path
from lab.hosts.own_folder import OWN_FOLDER
from lab.platforms.macos.disk_images import leave_alone
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import FolderName, OwnPath
from lab.stores.mac_volume import COMMON, IMAGE_FACTS, MacVolume, parse_image
from lab.stores.operations import DEADLINE_S
from lab.stores.store import Facts, Room, Site
from lab.stores.zfs import SLOP_BYTES, WITHOUT_SLOP, compression

FUNCTIONS = OWN_FOLDER + read_script(__file__, "mac_pool_functions.sh")
STATE = FUNCTIONS + 'state "$@"'
CREATE = FUNCTIONS + read_script(__file__, "mac_pool_create.sh")
DESTROY = FUNCTIONS + read_script(__file__, "mac_pool_destroy.sh")
FORGET = FUNCTIONS + read_script(__file__, "mac_pool_forget.sh")
FAULT = FUNCTIONS + (
    'health=$(zpool list -H -o health "$1") || exit; [ "$health" = ONLINE ] || echo "the pool $1 is $health"'
)
LACK = FUNCTIONS + (
    "command -v zpool >/dev/null && command -v zfs >/dev/null && zpool list -H -o name >/dev/null 2>&1 || "
    'echo "OpenZFS on OS X"'
)
USUAL_ASHIFT = "12"
VALUE = re.compile(r"^[^\t\n]+\t(ashift|casesensitivity|compression)\t([^\t\n]+)\t", re.MULTILINE)
MIMIC = re.compile(r"^mimic (on|off)$", re.MULTILINE)
VERSION = re.compile(r"^version ([0-9a-zA-Z._+-]{1,60})$", re.MULTILINE)


@dataclass(frozen=True)
class MacPool(Operation):
    """An imported pool on a Mac. It is destroyed only if its only device is the lab's own image."""

    kind = "mac-zpool"
    label_format = "pool {name} in {image}"
    values = "absent|imported"

    name: FolderName  #: Its name.
    image: OwnPath  #: The image, without links.
    place: OwnPath  #: Its mount point.

    def read(self) -> Command:
        return script(STATE, self.name, self.image, deadline_s=60)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(DESTROY, self.name, self.image, self.place, root=True, deadline_s=DEADLINE_S),)


class O3x(MacVolume):
    """A pool on one image. It compares names like HFS+: decomposed, and by default without case."""

    name = "o3x"
    about = "A pool of OpenZFS on OS X (O3X) in a disk image of the lab's own, on a Mac where that is installed."
    least_bytes = 512 * MIB
    leaves = Room(WITHOUT_SLOP, SLOP_BYTES + 16 * MIB)  # without the partition map and ZFS's own labels
    facts_script = FUNCTIONS + read_script(__file__, "o3x_facts.sh") + IMAGE_FACTS
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
        return script(LACK)

    def volume(self, site: Site, place: str, device: str, levels: Mapping[str, str]) -> Setting:
        pool = _pool(site, place, levels)
        words = (pool.name, pool.image, pool.place, device, levels.get("mimic", ""), *create_options(levels))
        create = script(CREATE, *words, root=True, deadline_s=DEADLINE_S)
        remedy = "see what `zpool status` says there, or take the levels that zpool refuses out of the sweep"
        return Setting(site.role, pool, "imported", (create, leave_alone(pool.place, site.uid, "1777")), remedy)

    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        levels = parse_o3x(printed)
        version = VERSION.search(printed)
        shown = "shown as hfs" if levels["mimic"] == "on" else "shown as zfs"
        details = f"case-{levels['case']}, {levels['image']}, ashift {levels['ashift']}, {shown}"
        return Facts(f"o3x {version[1] if version else 'of unknown version'}, {details}", levels)

    def forget(self, site: Site, levels: Mapping[str, str]) -> Command:
        pool = _pool(site, real_path(site.host, site.path), levels)
        return script(FORGET, pool.name, pool.image, pool.place, root=True, deadline_s=DEADLINE_S)

    def find_fault(self, site: Site) -> Command:
        return script(FAULT, site.name)


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


def _pool(site: Site, place: str, levels: Mapping[str, str]) -> MacPool:
    """The pool has the random name of the lab's folder, so that a list of pools shows whose it is."""
    return MacPool(site.name, f"{place}.{levels.get('image', 'sparseimage')}", place)


STORE = O3x()
