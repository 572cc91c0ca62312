"""A pool of OpenZFS on OS X (O3X) in a disk image on a Mac.

No option forces, and the pool is in no cache file. A pool is the lab's if it has the random name of the lab's folder
and its only device is, by hdiutil, the image that the lab attached. Facts: docs/reference/platforms.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.hosts.own_folder import OWN_FOLDER
from lab.platforms.macos.disk_images import leave_alone
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import FolderName, OwnPath
from lab.stores.operations import DEADLINE_S
from lab.stores.store import Site

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


@dataclass(frozen=True)
class MacPool(Operation):
    """An imported pool on a Mac. It is destroyed only if its only device is the lab's own image."""

    kind = "mac-zpool"
    values = "absent|imported"

    name: FolderName
    """Its name."""
    image: OwnPath
    """The image, without links."""
    place: OwnPath
    """Its mount point."""

    @property
    def label(self) -> str:
        return f"pool {self.name} in {self.image}"

    def read(self) -> Command:
        return script(STATE, self.name, self.image, deadline_s=60)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(DESTROY, self.name, self.image, self.place, root=True, deadline_s=DEADLINE_S),)


def pool_volume(site: Site, pool: MacPool, device: str, mimic: str, words: Sequence[str]) -> Setting:
    """Make a pool on an image's device with the options ``words``. The account owns its volume; all may write there.

    ``mimic`` is ``on``, ``off``, or empty: then it is on if that Mac has an AFP server.
    """
    arguments = (pool.name, pool.image, pool.place, device, mimic, *words)
    create = script(CREATE, *arguments, root=True, deadline_s=DEADLINE_S)
    remedy = "see what `zpool status` says there, or take the levels that zpool refuses out of the sweep"
    return Setting(site.role, pool, "imported", (create, leave_alone(pool.place, site.uid, "1777")), remedy)


def forget(pool: MacPool) -> Command:
    """Export the pool and import it again, which empties its ARC."""
    return script(FORGET, pool.name, pool.image, pool.place, root=True, deadline_s=DEADLINE_S)
