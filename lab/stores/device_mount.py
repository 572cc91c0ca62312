"""A file system on a device that the user named, mounted: what is changed for one, and put back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.hosts.mounts import in_table
from lab.settings.operation import Operation
from lab.settings.parameters import DevicePath, OwnPath
from lab.settings.setting import Setting
from lab.stores import named_device
from lab.stores.store_files import DEADLINE_S

FUNCTIONS = named_device.FUNCTIONS + read_script(__file__, "device_mount_functions.sh")
MOUNT = FUNCTIONS + read_script(__file__, "device_mount.sh")
UNMOUNT = FUNCTIONS + read_script(__file__, "device_unmount.sh")
STATE = FUNCTIONS + 'mount_state "$1" "$2"'


@dataclass(frozen=True)
class DeviceMount(Operation):
    """The file system of a device, mounted at a folder of the lab's own."""

    kind = "device-mount"
    values = "absent|mounted"

    path: OwnPath
    """Where it is mounted."""
    device: DevicePath
    """The device."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"mount of {self.device} at {self.path}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(STATE, in_table(self.path), self.device)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT, self.path, self.device, in_table(self.path), root=True, deadline_s=DEADLINE_S),)


def device_mount(
    role: str, mount: DeviceMount, mark: str, kind: str, options: Sequence[str], uid: int, make_words: Sequence[str]
) -> Setting:
    """The file system of this ``kind`` that a command of these words makes on a device with this mark, mounted."""
    all_options, where = ",".join(("noatime", "nosuid", "nodev", *options)), in_table(mount.path)
    of_mount = (mount.path, mount.device, where, mark, kind, all_options, str(uid))
    make = script(MOUNT, *of_mount, *make_words, root=True, deadline_s=DEADLINE_S)
    remedy = "see what the kernel of that host says (`dmesg`), or take the store out of the sweep"
    return Setting(role, mount, "mounted", (make,), remedy)
