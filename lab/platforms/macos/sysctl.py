"""A name of sysctl as a setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from lab.hosts.command import Command, command, script
from lab.platforms.settings import LARGEST_NUMBER, check_range
from lab.settings.operation import Operation
from lab.settings.setting import Setting

Name: TypeAlias = Literal[
    "net.inet.raw.maxdgram",
    "net.inet.raw.recvspace",
    "net.inet.tcp.autosndbufmax",
    "net.inet.tcp.doautorcvbuf",
    "net.inet.tcp.doautosndbuf",
    "net.inet.tcp.recvspace",
    "net.inet.tcp.sendspace",
    "net.inet.tcp.sockthreshold",
]


@dataclass(frozen=True)
class MacSysctl(Operation):
    """A number that the kernel of a Mac goes by."""

    kind = "mac-sysctl"
    values = "[0-9]{1,10}"

    name: Name
    """Its name."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return self.name

    def check(self, value: str) -> None:
        """See :meth:`Operation.check`."""
        super().check(value)
        check_range(self, value, 0, LARGEST_NUMBER)

    def read(self) -> Command:
        """See :meth:`Operation.read`; an unknown name may exit 0."""
        return script('sysctl -n "$1" | grep "^[0-9]"', self.name)

    def change(self, value: str) -> tuple[Command, ...]:
        """The commands that set it; without -w, 10.6 to 10.9 refuse."""
        return (command("sysctl", "-w", f"{self.name}={value}", root=True),)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return self.change(old)


def sysctl_setting(role: str, name: str, value: str, remedy: str) -> Setting:
    """The value of this name on the host of this role; ``remedy`` says what to do where it is refused."""
    operation = MacSysctl(cast(Name, name))  # which checks it
    return Setting(role, operation, value, operation.change(value), remedy)
