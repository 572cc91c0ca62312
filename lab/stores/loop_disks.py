"""Loop devices that stand in for disks with sectors of 4096 bytes that say 512, over files of the lab's own.

Debian's kernels have no target of device-mapper that emulates sectors (CONFIG_DM_EBS). A loop over a loop does: the
lower one takes blocks of 4096 bytes only, so the kernel reads, changes and writes back the block of a smaller write.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.settings.operation import Operation
from lab.settings.parameters import OwnPath
from lab.settings.setting import Setting
from lab.stores.store_files import DEADLINE_S

FUNCTIONS = read_script(__file__, "loop_disks_functions.sh")
MAKE = FUNCTIONS + read_script(__file__, "loop_disks_make.sh")
REMOVE = FUNCTIONS + read_script(__file__, "loop_disks_remove.sh")
STATE = FUNCTIONS + 'disks_state "$1" "$2"'
SECTOR_BYTES = 4096


@dataclass(frozen=True)
class LoopDisks(Operation):
    """Two loops for each file in a folder, and nodes of the upper ones; they stay for as long as they are used."""

    kind = "loop-disks"
    values = "absent|present"
    holds = True

    folder: OwnPath
    """Where the files are."""
    nodes: OwnPath
    """Where the nodes are."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"disks over {self.folder}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(STATE, self.folder, self.nodes, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(REMOVE, self.folder, self.nodes, root=True, deadline_s=DEADLINE_S),)


def loop_disks(role: str, folder: str, nodes: str) -> Setting:
    """A disk for each file in a folder, with a node of the file's name in a new folder."""
    make = script(MAKE, folder, nodes, str(SECTOR_BYTES), root=True, deadline_s=DEADLINE_S)
    remedy = "see what the kernel of that host says (`dmesg`), or leave 512e out of the sweep"
    return Setting(role, LoopDisks(folder, nodes), "present", (make,), remedy)
