"""A pool of OpenZFS on OS X (O3X) in a disk image of a Mac: what is changed for one, and put back.

No word forces. A pool counts as the lab's where it has the random name of the lab's folder and its only device is the
image that the lab attached, which hdiutil tells: that is what would be lost with it. It stands in no cache of pools.
Facts: docs/reference/platforms.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.hosts.own_folder import OWN_FOLDER
from lab.platforms.macos.disk_images import leave_alone
from lab.settings.operation import Operation
from lab.settings.parameters import FolderName, OwnPath
from lab.settings.setting import Setting
from lab.stores.store import Site
from lab.stores.store_files import DEADLINE_S

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
    """A pool on a Mac, imported; destroyed only where its only device is an image of the lab's own."""

    kind = "mac-zpool"
    values = "absent|imported"

    name: FolderName
    """Its name."""
    image: OwnPath
    """The file of the image, without links."""
    place: OwnPath
    """Where it is mounted."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"pool {self.name} in {self.image}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(STATE, self.name, self.image, deadline_s=60)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(DESTROY, self.name, self.image, self.place, root=True, deadline_s=DEADLINE_S),)


def pool_volume(site: Site, pool: MacPool, device: str, mimic: str, words: Sequence[str]) -> Setting:
    """The pool on an image's device that options of ``zpool create`` make; its volume is the account's, all may write.

    ``mimic`` is on, off, or empty for where that Mac has an AFP server.
    """
    of_pool = (pool.name, pool.image, pool.place, device, mimic)
    create = script(CREATE, *of_pool, *words, root=True, deadline_s=DEADLINE_S)
    remedy = "see what `zpool status` says there, or take the levels that zpool refuses out of the sweep"
    return Setting(site.role, pool, "imported", (create, leave_alone(pool.place, site.uid, "1777")), remedy)


def forget(pool: MacPool) -> Command:
    """The pool is exported and imported again: that empties the ARC of it."""
    return script(FORGET, pool.name, pool.image, pool.place, root=True, deadline_s=DEADLINE_S)


def find_fault(name: str) -> Command:
    """See :meth:`lab.stores.store.FileSystem.find_fault`."""
    return script(FAULT, name)
