"""A node for a device that the user named, or for a partition that the lab has the kernel see on it.

A pool is made of nodes in a folder of the lab's own: a disk by its usual name ZFS would divide into partitions.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.settings.operation import Operation
from lab.settings.parameters import DevicePath, FolderName, OwnPath
from lab.settings.setting import Setting
from lab.stores import named_device
from lab.stores.store_files import DEADLINE_S

CHANGE_PARTITION = (
    f'change_partition() {{ perl -e {shlex.quote(read_script(__file__, "change_partition.pl"))} -- "$@"; }}\n'
)
FUNCTIONS = named_device.FUNCTIONS + CHANGE_PARTITION + read_script(__file__, "device_node_functions.sh")
MAKE = FUNCTIONS + read_script(__file__, "device_node_make.sh")
REMOVE = FUNCTIONS + read_script(__file__, "device_node_remove.sh")
STATE = FUNCTIONS + 'node_state "$1" "$2" "$3"'


@dataclass(frozen=True)
class DeviceNode(Operation):
    """A node in a folder of the lab's own in /dev, of a device that has the lab's mark."""

    kind = "device-node"
    values = "absent|present"
    holds = True

    node: OwnPath
    """Where it is."""
    device: DevicePath
    """The device."""
    part: Literal["whole", "partition"]
    """What of the device: all, or a partition from 1 MiB after its start to 1 MiB before its end."""
    mark: FolderName
    """The mark that the device has."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"node of {self.device}" + (", a partition" if self.part == "partition" else "")

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(STATE, self.node, self.device, self.part, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(REMOVE, self.node, self.device, self.part, self.mark, root=True, deadline_s=DEADLINE_S),)


def device_node(role: str, node: DeviceNode) -> Setting:
    """The node, made."""
    make = script(MAKE, node.node, node.device, node.part, node.mark, root=True, deadline_s=DEADLINE_S)
    remedy = "see what the kernel of that host says (`dmesg`), or leave the level of zfs.disks out of the sweep"
    return Setting(role, node, "present", (make,), remedy)
