"""A disk or partition that the user named: taken, given a device node, and given back with zeros at its ends.

The lab takes only an empty device: the kernel and ``wipefs`` know no content and no use of it, and its first and last
2 MiB are zeros. A taken device has a mark; without the mark, the lab never writes to it.

Pools are made on device nodes in a folder of the lab's own, because ZFS would partition a disk given by its usual name.
"""

import shlex
from dataclasses import dataclass
from typing import Literal

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts import Host
from lab.hosts.command import Command, script
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import DevicePath, FolderName, OwnPath
from lab.stores.operations import DEADLINE_S

FUNCTIONS = read_script(__file__, "named_device_functions.sh")
CHECK = FUNCTIONS + read_script(__file__, "named_device_check.sh")
TAKE = FUNCTIONS + read_script(__file__, "named_device_take.sh")
RELEASE = FUNCTIONS + read_script(__file__, "named_device_release.sh")
FAULT = FUNCTIONS + read_script(__file__, "named_device_fault.sh")
STATE = FUNCTIONS + 'device_state "$1" "$2"'
CHANGE_PARTITION = (
    f'change_partition() {{ perl -e {shlex.quote(read_script(__file__, "change_partition.pl"))} -- "$@"; }}\n'
)
NODE_FUNCTIONS = FUNCTIONS + CHANGE_PARTITION + read_script(__file__, "device_node_functions.sh")
MAKE_NODE = NODE_FUNCTIONS + read_script(__file__, "device_node_make.sh")
REMOVE_NODE = NODE_FUNCTIONS + read_script(__file__, "device_node_remove.sh")
NODE_STATE = NODE_FUNCTIONS + 'node_state "$1" "$2" "$3"'
AT_END = 2 << 20  # bytes at the end of a device that its file system leaves to the mark
HOW_TO_CLEAR = (
    "give another device as [share] devices, or, if nothing on it is needed, make its ends zeros by hand "
    "(docs/how-to/use-whole-disks.md)"
)
GONE = "gone"


@dataclass(frozen=True)
class NamedDevice(Operation):
    """A device, the lab's while it has the lab's mark."""

    kind = "named-device"
    label_format = "device {device}"
    values = "free|taken"
    volatile = False
    holds = True
    stands_alone = True

    device: DevicePath  #: Its path, as the user named it.
    mark: FolderName  #: The name of the lab's folder.

    def read(self) -> Command:
        return script(STATE, self.device, self.mark, root=True)

    def explain(self, value: str) -> str:
        if value != GONE:
            return ""
        return (
            f"the device {self.device} is gone, with the lab's mark on it: its ends were not made zeros. Once it is "
            f"back, `lab restore` does that; if it will not come back: `lab restore --gone {self.device}`"
        )

    def check(self, value: str) -> None:
        if value == GONE:
            raise LabFailure(f"the device {self.device} is gone")
        super().check(value)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(RELEASE, self.device, self.mark, root=True, deadline_s=DEADLINE_S),)


def named_device(role: str, device: str, mark: str, size_bytes: int) -> Setting:
    """Take an empty device of at least ``size_bytes``."""
    take = script(TAKE, device, mark, str(size_bytes), root=True, deadline_s=DEADLINE_S)
    return Setting(role, NamedDevice(device, mark), "taken", (take,), HOW_TO_CLEAR)


def read_reasons(host: Host, device: str, size_bytes: int) -> str:
    """Why a device cannot be taken, if ``size_bytes`` are needed; empty if it can."""
    check = script(CHECK, device, str(size_bytes), root=True, deadline_s=DEADLINE_S)
    return "; ".join(first_line(reason, 200) for reason in check.run(host).splitlines()[:5])


@dataclass(frozen=True)
class DeviceNode(Operation):
    """A node of a device with the lab's mark, in a folder of the lab's own in /dev."""

    kind = "device-node"
    values = "absent|present"
    holds = True

    node: OwnPath  #: Its path.
    device: DevicePath  #: The device.
    part: Literal["whole", "partition"]
    """All of the device, or a partition from 1 MiB after its start to 1 MiB before its end."""
    mark: FolderName  #: The device's mark.

    @property
    def label(self) -> str:
        return f"node of {self.device}" + (", a partition" if self.part == "partition" else "")

    def read(self) -> Command:
        return script(NODE_STATE, self.node, self.device, self.part, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(REMOVE_NODE, self.node, self.device, self.part, self.mark, root=True, deadline_s=DEADLINE_S),)
