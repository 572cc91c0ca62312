"""512e disks, made of loop devices over files of the lab's own: sectors of 4096 bytes that are reported as 512.

Debian's kernels lack the device-mapper target for this (CONFIG_DM_EBS). The lower of two loops takes only blocks of
4096 bytes, so that the kernel reads, changes and writes back a whole block for a smaller write.
"""

from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import OwnPath
from lab.stores.operations import DEADLINE_S

FUNCTIONS = read_script(__file__, "loop_disks_functions.sh")
MAKE = FUNCTIONS + read_script(__file__, "loop_disks_make.sh")
REMOVE = FUNCTIONS + read_script(__file__, "loop_disks_remove.sh")
STATE = FUNCTIONS + 'disks_state "$1" "$2"'
SECTOR_BYTES = 4096


@dataclass(frozen=True)
class LoopDisks(Operation):
    """Two loops for each file in a folder, and a node of each upper loop. They stay while they are used."""

    kind = "loop-disks"
    values = "absent|present"
    holds = True

    folder: OwnPath
    """The folder of the files."""
    nodes: OwnPath
    """The folder of the nodes."""

    @property
    def label(self) -> str:
        return f"disks over {self.folder}"

    def read(self) -> Command:
        return script(STATE, self.folder, self.nodes, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(REMOVE, self.folder, self.nodes, root=True, deadline_s=DEADLINE_S),)


def loop_disks(role: str, folder: str, nodes: str) -> Setting:
    """Make a disk for each file in ``folder``, with a node of the same name in the new folder ``nodes``."""
    make = script(MAKE, folder, nodes, str(SECTOR_BYTES), root=True, deadline_s=DEADLINE_S)
    remedy = "see what the kernel of that host says (`dmesg`), or leave 512e out of the sweep"
    return Setting(role, LoopDisks(folder, nodes), "present", (make,), remedy)
