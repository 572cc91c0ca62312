"""A disk or partition that the user named: how it is taken, and given back as it was, with zeros at its ends.

It is taken only where it holds nothing: the kernel and ``wipefs`` know of no content and no use of it, and its first
and last 2 MiB are zeros. While it is the lab's it has a mark, and without that nothing on it is ever written to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts import Host
from lab.hosts.command import Command, script
from lab.settings.operation import Operation
from lab.settings.parameters import DevicePath, FolderName
from lab.settings.setting import Setting
from lab.stores.store_files import DEADLINE_S

FUNCTIONS = read_script(__file__, "named_device_functions.sh")
CHECK = FUNCTIONS + read_script(__file__, "named_device_check.sh")
TAKE = FUNCTIONS + read_script(__file__, "named_device_take.sh")
RELEASE = FUNCTIONS + read_script(__file__, "named_device_release.sh")
FAULT = FUNCTIONS + read_script(__file__, "named_device_fault.sh")
STATE = FUNCTIONS + 'device_state "$1" "$2"'
AT_END = 2 << 20  # bytes at the end of a device that a file system on it leaves alone: there is the mark
HOW_TO_CLEAR = (
    "give another device as [share] devices, or, if nothing on it is needed, make its ends zeros by hand "
    "(docs/how-to/use-whole-disks.md)"
)
GONE = "gone"


@dataclass(frozen=True)
class NamedDevice(Operation):
    """A device that is the lab's for as long as it has the lab's mark."""

    kind = "named-device"
    values = "free|taken"
    volatile = False
    holds = True
    stands_alone = True

    device: DevicePath
    """Its path, as the user named it."""
    mark: FolderName
    """The name of the lab's folder."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"device {self.device}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(STATE, self.device, self.mark, root=True)

    def explain(self, value: str) -> str:
        """See :meth:`Operation.explain`."""
        if value != GONE:
            return ""
        return (
            f"the device {self.device} is gone, with the lab's mark on it: its ends were not made zeros. Once it is "
            f"back, `lab restore` does that; where it will not come back: `lab restore --gone {self.device}`"
        )

    def check(self, value: str) -> None:
        """See :meth:`Operation.check`."""
        if value == GONE:
            raise LabFailure(f"the device {self.device} is gone")
        super().check(value)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(RELEASE, self.device, self.mark, root=True, deadline_s=DEADLINE_S),)


def named_device(role: str, device: str, mark: str, size_bytes: int) -> Setting:
    """A device that holds nothing and has so many bytes, taken."""
    take = script(TAKE, device, mark, str(size_bytes), root=True, deadline_s=DEADLINE_S)
    return Setting(role, NamedDevice(device, mark), "taken", (take,), HOW_TO_CLEAR)


def find_fault(devices: Sequence[str]) -> Command:
    """What prints which device of a store is gone or cannot be read, on one line; nothing where none is."""
    return script(FAULT + 'fault_of_devices "$@"', *devices, root=True)


def read_reasons(host: Host, device: str, size_bytes: int) -> str:
    """Why a device of a host cannot be taken, where it is to have so many bytes; empty where it can."""
    check = script(CHECK, device, str(size_bytes), root=True, deadline_s=DEADLINE_S)
    return "; ".join(first_line(reason, 200) for reason in check.run(host).splitlines()[:5])
