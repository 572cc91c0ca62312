"""Operations that several stores share: a kernel module, and a file or folder that a store lies in."""

from dataclasses import dataclass
from typing import ClassVar

from lab.base.scripts import read_script
from lab.hosts.command import Command, command, script
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import OwnPath

DEADLINE_S = 120  # a slow disk: mkfs, an unmount that writes everything out; a busy guest that links a module of 12 MB
CANNOT_WRITE = "see what is there, and that its disk can be written to"  # the remedy for a file or folder of a store
UNLOAD = read_script(__file__, "module_unload.sh")
IS_THERE = 'if [ -e "$1" ] || [ -L "$1" ]; then echo present; else echo absent; fi'
LOOP_STATE = """
if [ -e /sys/module/loop ] && ! cat /sys/block/loop*/loop/backing_file >/dev/null 2>&1; then echo loaded
else echo absent; fi
"""


@dataclass(frozen=True)
class KernelModule(Operation):
    """A kernel module. It counts as ``absent`` once somebody else uses it."""

    values = "absent|loaded"
    holds = True
    name: ClassVar[str]  #: Its name for modprobe.

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNLOAD, self.name, root=True, deadline_s=DEADLINE_S),)


def load(role: str, module: KernelModule) -> Setting:
    """Load the module."""
    words = command("modprobe", module.name, root=True, deadline_s=DEADLINE_S)
    return Setting(role, module, "loaded", (words,), "take the store out of the sweep")


@dataclass(frozen=True)
class LoopModule(KernelModule):
    """The kernel module of loop devices, if it was not loaded before."""

    kind = "loop-module"
    label_format = "module loop"
    name = "loop"

    def read(self) -> Command:
        return script(LOOP_STATE)


@dataclass(frozen=True)
class StoreFiles(Operation):
    """A file or folder in the lab's folder. It stays while the store is used."""

    values = "absent|present"
    volatile = False
    holds = True

    path: OwnPath  #: Its path.

    def read(self) -> Command:
        return script(IS_THERE, self.path)
