"""A pool of ZFS in files of the lab's own, or on devices that the user named: what is changed for one, and put back.

No word forces. A pool counts as the lab's where it has the random name of the lab's folder and every device of it is a
file in there, a disk over just that file (:mod:`lab.stores.loop_disks`), or a device with that name as its mark
(:mod:`lab.stores.named_device`): that is what would be lost with it. It stands in no cache of pools
(``cachefile=none``). A start of the machine may look for pools on block devices, and import what is left on those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.settings.operation import Operation
from lab.settings.parameters import FolderName, OwnPath
from lab.settings.setting import Setting
from lab.stores import loop_disks, named_device
from lab.stores.kernel_module import KernelModule
from lab.stores.store_files import DEADLINE_S, StoreFiles

FUNCTIONS = loop_disks.FUNCTIONS + named_device.FUNCTIONS + read_script(__file__, "zpool_functions.sh")
STATE = FUNCTIONS + 'state "$@"'
MAKE_FILES = read_script(__file__, "vdevs_make.sh")
REMOVE_FILES = read_script(__file__, "vdevs_remove.sh")
CREATE = FUNCTIONS + read_script(__file__, "zpool_create.sh")
DESTROY = FUNCTIONS + read_script(__file__, "zpool_destroy.sh")
FORGET = FUNCTIONS + read_script(__file__, "zpool_forget.sh")
COUNT = read_script(__file__, "zpool_count.sh")
COUNT_DISKS = loop_disks.FUNCTIONS + read_script(__file__, "loop_disks_count.sh")
FACTS = loop_disks.FUNCTIONS + named_device.FUNCTIONS + read_script(__file__, "zfs_facts.sh")
FAULT = FUNCTIONS + read_script(__file__, "named_device_fault.sh") + read_script(__file__, "zpool_fault.sh")
SUSPENDED = "suspended"
# It unloads even under a pool that is not mounted, so what cannot be told is no "none"
MODULE_STATE = """
if [ ! -e /sys/module/zfs ]; then echo absent
elif ! pools=$(zpool list -H -o name); then echo "pools unknown"
elif [ "$pools" ]; then echo absent
else echo loaded; fi
"""


@dataclass(frozen=True)
class ZfsModule(KernelModule):
    """The kernel's module of ZFS, where it was not loaded before."""

    kind = "zfs-module"
    name = "zfs"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(MODULE_STATE)


@dataclass(frozen=True)
class VdevFiles(StoreFiles):
    """A folder of the lab's own with the files of a pool; it stays for as long as the pool is there."""

    kind = "vdev-files"

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"files of a pool in {self.path}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(REMOVE_FILES, self.path, root=True, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class Zpool(Operation):
    """A pool, imported; destroyed only where all its devices are the lab's own files, or devices that are the lab's."""

    kind = "zpool"
    values = "absent|imported"
    volatile = False  # a restart ends it, but somebody may have imported it again

    name: FolderName
    """Its name."""
    folder: OwnPath
    """Where its files are, or the nodes of its devices."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"pool {self.name} in {self.folder}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(STATE, self.name, self.folder)

    def explain(self, value: str) -> str:
        """See :meth:`Operation.explain`."""
        if value != SUSPENDED:
            return ""
        return (
            f"the pool {self.name} is suspended, for what it lies on is gone or cannot be written to. Once that is "
            "back, `lab restore` ends the pool; so does a restart of this host, and `lab restore` then does the rest"
        )

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(DESTROY, self.name, self.folder, root=True, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class ZpoolOnDisks(Zpool):
    """A pool on disks over files of the lab's own, imported; destroyed only where all its devices are such disks."""

    kind = "zpool-on-disks"
    volatile = True  # a restart ends its disks

    files: OwnPath
    """Where the files below its disks are; ``folder`` has the nodes of the disks."""

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(STATE, self.name, self.folder, self.files)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(DESTROY, self.name, self.folder, self.files, root=True, deadline_s=DEADLINE_S),)


def vdev_files(role: str, folder: str, bytes_each: int, count: int) -> Setting:
    """So many new files of this size in a new folder."""
    make = script(MAKE_FILES, folder, str(bytes_each), str(count), root=True)
    remedy = "see what is there, and that its disk can be written to"
    return Setting(role, VdevFiles(folder), "present", (make,), remedy, before="absent")


def zpool(role: str, pool: Zpool, path: str, uid: int, words: Sequence[str]) -> Setting:
    """The pool that a command of these ``words`` makes, mounted at ``path``, an empty folder, for an account."""
    of_pool = (pool.name, pool.folder, files_below(pool))
    create = script(CREATE, *of_pool, path, str(uid), *words, root=True, deadline_s=DEADLINE_S)
    remedy = "see what the kernel of that host says (`dmesg`), or take the levels that zpool refuses out of the sweep"
    return Setting(role, pool, "imported", (create,), remedy)


def forget(pool: Zpool) -> Command:
    """The pool is exported and imported again: that empties the ARC of it."""
    return script(FORGET, pool.name, pool.folder, files_below(pool), root=True, deadline_s=DEADLINE_S)


def count(pool: Zpool) -> Command:
    """See :meth:`lab.stores.store.FileSystem.count`. Of disks, what the file's side of them moved."""
    text = COUNT_DISKS if files_below(pool) else COUNT
    return script(text, pool.name, pool.folder, files_below(pool), root=True, deadline_s=DEADLINE_S)


def files_below(pool: Zpool) -> str:
    """The folder of the files below the disks of a pool; empty where its devices are files."""
    return pool.files if isinstance(pool, ZpoolOnDisks) else ""


def find_fault(name: str, devices: Sequence[str]) -> Command:
    """See :meth:`lab.stores.store.FileSystem.find_fault`."""
    return script(FAULT, name, *devices, root=True)
