"""What a store lies in: a file or a folder of the lab's own."""

from __future__ import annotations

from dataclasses import dataclass

from lab.hosts.command import Command, script
from lab.settings.operation import Operation
from lab.settings.parameters import OwnPath

DEADLINE_S = 120  # of what writes to a slow disk: making a file system, and an unmount that writes out what is left
IS_THERE = 'if [ -e "$1" ] || [ -L "$1" ]; then echo present; else echo absent; fi'


@dataclass(frozen=True)
class StoreFiles(Operation):
    """A file or folder in a folder of the lab's own; it stays for as long as the store is used."""

    values = "absent|present"
    volatile = False
    holds = True

    path: OwnPath
    """Where it is."""

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(IS_THERE, self.path)
