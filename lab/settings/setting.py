"""A setting: one piece of a host's state, the wanted value, and how to apply it."""

from dataclasses import dataclass

from lab.hosts.command import Command
from lab.settings.journal import Record
from lab.settings.operation import Operation


@dataclass(frozen=True)
class Setting:
    """One piece of a host's state that the lab changes by ``apply`` to the value ``wanted``.

    ``host`` is a role; ``operation`` reads the value and restores an old one. ``remedy`` says what to do if the host
    refuses. ``before`` replaces reading the old value, for something new whose name must be in no command yet.
    """

    host: str
    operation: Operation
    wanted: str
    apply: tuple[Command, ...]
    remedy: str = ""
    before: str = ""

    @property
    def name(self) -> str:
        """A short name for people."""
        return self.operation.label

    @property
    def read(self) -> Command:
        """The command that prints the present value."""
        return self.operation.read()

    def undo(self, old: str) -> tuple[Command, ...]:
        """The commands that restore an old value."""
        return self.operation.undo(old)

    def record(self, number: int, old: str, run: str = "", boot: str = "") -> Record:
        """The journal's record for restoring ``old``. Raises LabFailure for an impossible value."""
        return Record(number, self.host, self.operation, old, self.wanted, run, boot)
