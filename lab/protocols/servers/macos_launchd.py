"""File servers of macOS in launchd: loaded where they are off, and switched on for that time where that is noted.

launchd keeps a note of who switched a job off or on, which goes before its property list and stays over restarts. There
is no way to take such a note away again: it is changed only where it says "off", and says so again afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from lab.base.scripts import beside, read_script
from lab.hosts.command import Command, command, script
from lab.protocols.driver import Steps
from lab.protocols.share import Side
from lab.settings.operation import Operation
from lab.settings.setting import Setting

SERVING = beside(__file__, "macos_assumptions.toml")
DAEMONS = "/System/Library/LaunchDaemons"
Label: TypeAlias = Literal["com.apple.AppleFileServer", "com.apple.smbd"]
IS_LOADED = 'if launchctl list "$1" >/dev/null 2>&1; then echo loaded; else echo off; fi'
READ_SWITCH = read_script(__file__, "macos_launchd_switch.sh")
LOAD = read_script(__file__, "macos_launchd_load.sh")
UNLOAD = read_script(__file__, "macos_launchd_unload.sh")
REMEDY = "see what launchd has of it there: `sudo launchctl list {label}`"


def plist(label: Label) -> str:
    """The property list by which launchd knows a service."""
    return f"{DAEMONS}/{label}.plist"


@dataclass(frozen=True)
class MacService(Operation):
    """A file server of macOS, where it was off."""

    kind = "mac-service"
    values = "off|loaded"

    service: Label
    """Its name in launchd."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"service {self.service}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(IS_LOADED, self.service, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNLOAD, plist(self.service), self.service, root=True),)


@dataclass(frozen=True)
class MacServiceSwitch(Operation):
    """launchd's note that a file server of macOS is switched off."""

    kind = "mac-service-switch"
    values = "enabled|disabled|none"
    volatile = False

    service: Label
    """Its name in launchd."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"switch of {self.service}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(READ_SWITCH, self.service, root=True)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (switch(self.service, "disable"),) if old == "disabled" else ()


def switch(label: Label, verb: Literal["enable", "disable"]) -> Command:
    """The command of launchd 2 (10.10 and later) that takes down such a note."""
    return command("launchctl", verb, f"system/{label}", root=True)


def switch_on(server: Side, label: Label, port: int) -> Steps:
    """The service, where it is off, once it listens; switched on before, where it is noted to be off."""
    noted = MacServiceSwitch(label)
    if server.host.shell(READ_SWITCH, label, root=True).stdout.strip() == "disabled":
        yield Setting(server.host.name, noted, "enabled", (switch(label, "enable"),), REMEDY.format(label=label))
    load = script(LOAD, plist(label), server.listening(port), label, root=True, deadline_s=60)
    yield Setting(server.host.name, MacService(label), "loaded", (load,), REMEDY.format(label=label))
