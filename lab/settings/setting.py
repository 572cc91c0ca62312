"""One piece of a host's state that is to be changed: to what, and how."""

from __future__ import annotations

from dataclasses import dataclass

from lab.hosts.command import Command
from lab.settings.journal import Record
from lab.settings.operation import Operation


@dataclass(frozen=True)
class Setting:
    """One piece of a host's state that the lab may change.

    ``operation`` says what it is, reads the present value and brings an old one back; ``apply`` brings about
    ``wanted``. ``host`` is a role. ``remedy`` says what to do where it is refused. ``before`` is the old value where
    that is not read: of what is new, whose name no command may have before.
    """

    host: str
    operation: Operation
    wanted: str
    apply: tuple[Command, ...]
    remedy: str = ""
    before: str = ""

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        return self.operation.label

    @property
    def read(self) -> Command:
        """The command that prints the present value."""
        return self.operation.read()

    def undo(self, old: str) -> tuple[Command, ...]:
        """The commands that bring an old value back."""
        return self.operation.undo(old)

    def record(self, number: int, old: str, run: str = "", boot: str = "") -> Record:
        """All that it takes to put this back to ``old``, for the journal. Raises LabFailure for no such value."""
        return Record(number, self.host, self.operation, old, self.wanted, run, boot)
