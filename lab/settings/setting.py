"""One piece of a host's state: how it is read, changed and changed back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab.hosts.command import Command
from lab.settings.journal import Record


@dataclass(frozen=True)
class Setting:
    """One piece of a host's state that the lab may change.

    ``read`` prints the present value; ``apply`` brings about ``wanted``; ``undo`` makes, from an old value, the
    commands that bring it back. ``host`` is a role. A ``volatile`` one does not outlive a restart of the host; one that
    ``holds`` what later ones need is not put back before they are. One that ``may_cut_off`` the controller is taken
    back by the host itself, unless the controller has reached it again. ``remedy`` says what to do where it is refused.
    """

    host: str
    name: str
    read: Command
    wanted: str
    apply: tuple[Command, ...]
    undo: Callable[[str], tuple[Command, ...]]
    volatile: bool = True
    holds: bool = False
    may_cut_off: bool = False
    remedy: str = ""

    def record(self, number: int, old: str, run: str = "", boot: str = "") -> Record:
        """All that it takes to put this back to ``old``, for the journal."""
        undo, kept = self.undo(old), (self.volatile, self.holds)
        return Record(number, self.host, self.name, old, self.wanted, self.read, undo, run, boot, *kept)
