"""A module of the kernel that a store needs: loaded where it was not, and unloaded again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lab.base.scripts import read_script
from lab.hosts.command import Command, command, script
from lab.settings.operation import Operation
from lab.settings.setting import Setting

UNLOAD = read_script(__file__, "module_unload.sh")
DEADLINE_S = 120  # a busy guest links a module of 12 MB


@dataclass(frozen=True)
class KernelModule(Operation):
    """The module ``name``. ``absent`` also where others have begun to use it: it is theirs then."""

    values = "absent|loaded"
    holds = True
    name: ClassVar[str]
    """As modprobe knows it."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"module {self.name}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNLOAD, self.name, root=True, deadline_s=DEADLINE_S),)


def load(role: str, module: KernelModule) -> Setting:
    """The module, loaded."""
    words = command("modprobe", module.name, root=True, deadline_s=DEADLINE_S)
    return Setting(role, module, "loaded", (words,), "take the store out of the sweep")
