"""A ZFS pool in files of the lab's own, or on devices that the user named.

No option forces. A pool is the lab's if it has the random name of the lab's folder and all its devices are the lab's: a
file there; a disk over that file (:class:`LoopDisks`); or a device with that name as its mark
(:mod:`lab.stores.named_device`). It is in no cache file; a reboot may still find and import a pool on block devices.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import FolderName, OwnPath
from lab.stores import named_device
from lab.stores.operations import DEADLINE_S, KernelModule, StoreFiles

LOOP_FUNCTIONS = read_script(__file__, "loop_disks_functions.sh")
MAKE_DISKS = LOOP_FUNCTIONS + read_script(__file__, "loop_disks_make.sh")
REMOVE_DISKS = LOOP_FUNCTIONS + read_script(__file__, "loop_disks_remove.sh")
DISKS_STATE = LOOP_FUNCTIONS + 'disks_state "$1" "$2"'
SECTOR_BYTES = 4096
FUNCTIONS = LOOP_FUNCTIONS + named_device.FUNCTIONS + read_script(__file__, "zpool_functions.sh")
STATE = FUNCTIONS + 'state "$@"'
MAKE_FILES = read_script(__file__, "vdevs_make.sh")
REMOVE_FILES = read_script(__file__, "vdevs_remove.sh")
CREATE = FUNCTIONS + read_script(__file__, "zpool_create.sh")
DESTROY = FUNCTIONS + read_script(__file__, "zpool_destroy.sh")
FORGET = FUNCTIONS + read_script(__file__, "zpool_forget.sh")
COUNT = read_script(__file__, "zpool_count.sh")
COUNT_DISKS = LOOP_FUNCTIONS + read_script(__file__, "loop_disks_count.sh")
FACTS = LOOP_FUNCTIONS + named_device.FUNCTIONS + read_script(__file__, "zfs_facts.sh")
FAULT = FUNCTIONS + read_script(__file__, "named_device_fault.sh") + read_script(__file__, "zpool_fault.sh")
SUSPENDED = "suspended"
# modprobe unloads zfs even if it has a pool that is not mounted, so an unknown list of pools is not an empty one
MODULE_STATE = """
if [ ! -e /sys/module/zfs ]; then echo absent
elif ! pools=$(zpool list -H -o name); then echo "pools unknown"
elif [ "$pools" ]; then echo absent
else echo loaded; fi
"""


@dataclass(frozen=True)
class ZfsModule(KernelModule):
    """The kernel module of ZFS, if it was not loaded before."""

    kind = "zfs-module"
    label_format = "module zfs"
    name = "zfs"

    def read(self) -> Command:
        return script(MODULE_STATE)


# 512e disks: sectors of 4096 bytes are reported as 512. Debian's kernels lack the device-mapper target for this
# (CONFIG_DM_EBS). The lower of two loops takes only blocks of 4096 bytes. So for a smaller write the kernel reads,
# changes and writes a whole block.
@dataclass(frozen=True)
class LoopDisks(Operation):
    """Two loops for each file in a folder, and a node of each upper loop. They stay while they are used."""

    kind = "loop-disks"
    label_format = "disks over {folder}"
    values = "absent|present"
    holds = True

    folder: OwnPath  #: The folder of the files.
    nodes: OwnPath  #: The folder of the nodes.

    def read(self) -> Command:
        return script(DISKS_STATE, self.folder, self.nodes, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(REMOVE_DISKS, self.folder, self.nodes, root=True, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class VdevFiles(StoreFiles):
    """A folder of the lab's own with a pool's files. It stays while the pool exists."""

    kind = "vdev-files"
    label_format = "files of a pool in {path}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(REMOVE_FILES, self.path, root=True, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class Zpool(Operation):
    """An imported pool. It is destroyed only if all its devices are the lab's."""

    kind = "zpool"
    label_format = "pool {name} in {folder}"
    values = "absent|imported"
    volatile = False  # a reboot ends it, but somebody may import it again

    name: FolderName  #: Its name.
    folder: OwnPath  #: The folder of its files, or of its device nodes.

    def read(self) -> Command:
        return script(STATE, self.name, self.folder)

    def explain(self, value: str) -> str:
        if value != SUSPENDED:
            return ""
        return (
            f"the pool {self.name} is suspended, because its devices are gone or cannot be written to. Once they are "
            "back, `lab restore` ends the pool; so does a restart of this host, and `lab restore` then does the rest"
        )

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(DESTROY, self.name, self.folder, root=True, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class ZpoolOnDisks(Zpool):
    """An imported pool on 512e disks over the lab's own files. It is destroyed only if all its devices are such."""

    kind = "zpool-on-disks"
    volatile = True  # a reboot ends its disks

    files: OwnPath  #: The folder of the files below its disks; ``folder`` has the disks' nodes.

    def read(self) -> Command:
        return script(STATE, self.name, self.folder, self.files)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(DESTROY, self.name, self.folder, self.files, root=True, deadline_s=DEADLINE_S),)


def loop_disks(role: str, folder: str, nodes: str) -> Setting:
    """Make a disk for each file in ``folder``, with a node of the same name in the new folder ``nodes``."""
    make = script(MAKE_DISKS, folder, nodes, str(SECTOR_BYTES), root=True, deadline_s=DEADLINE_S)
    remedy = "see what the kernel of that host says (`dmesg`), or leave 512e out of the sweep"
    return Setting(role, LoopDisks(folder, nodes), "present", (make,), remedy)


def zpool(role: str, pool: Zpool, path: str, uid: int, words: Sequence[str]) -> Setting:
    """Make the pool by the command ``words``, and mount it at the empty folder ``path`` for the account ``uid``."""
    arguments = (pool.name, pool.folder, files_below(pool), path, str(uid), *words)
    create = script(CREATE, *arguments, root=True, deadline_s=DEADLINE_S)
    remedy = "see what the kernel of that host says (`dmesg`), or take the levels that zpool refuses out of the sweep"
    return Setting(role, pool, "imported", (create,), remedy)


def forget(pool: Zpool) -> Command:
    """Export the pool and import it again, which empties its ARC."""
    return script(FORGET, pool.name, pool.folder, files_below(pool), root=True, deadline_s=DEADLINE_S)


def count(pool: Zpool) -> Command:
    """See :meth:`lab.stores.store.FileSystem.count`. For 512e disks, the lower loops are counted."""
    text = COUNT_DISKS if files_below(pool) else COUNT
    return script(text, pool.name, pool.folder, files_below(pool), root=True, deadline_s=DEADLINE_S)


def files_below(pool: Zpool) -> str:
    """The folder of the files below a pool's disks; empty if its devices are files."""
    return pool.files if isinstance(pool, ZpoolOnDisks) else ""
