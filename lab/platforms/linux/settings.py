"""What a run changes on a Linux host: the MTU by iproute2, TCP buffers by /proc/sys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lab.base.untrusted import count
from lab.hosts.command import Command, command, script
from lab.platforms.settings import (
    LARGEST_NUMBER,
    MTU_REMEDY,
    TCP_BUFFERS_REMEDY,
    Mtu,
    SystemSettings,
    check_range,
)
from lab.settings.operation import Operation
from lab.settings.setting import Setting

SMALLEST_TCP_BUFFER = 4096  # the first field of tcp_rmem and tcp_wmem: what a socket keeps when memory runs out


@dataclass(frozen=True)
class LinuxMtu(Mtu):
    """The MTU of an interface of a Linux host, 68 to 65535 bytes."""

    kind = "linux-mtu"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return command("cat", f"/sys/class/net/{self.interface}/mtu")

    def change(self, value: str) -> tuple[Command, ...]:
        """The commands that set it."""
        return (command("ip", "link", "set", "dev", self.interface, "mtu", value, root=True),)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return self.change(old)


@dataclass(frozen=True)
class LinuxTcpBuffer(Operation):
    """The least, usual and largest size of the TCP buffers of a Linux host, in bytes."""

    kind = "linux-tcp-buffer"
    values = r"[0-9]{1,10}\t[0-9]{1,10}\t[0-9]{1,10}"

    name: Literal["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"]
    """The sysctl: of receiving or of sending."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return self.name

    def check(self, value: str) -> None:
        """See :meth:`Operation.check`."""
        super().check(value)
        check_range(self, value, 1, LARGEST_NUMBER)

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return command("cat", self._path)

    def change(self, value: str) -> tuple[Command, ...]:
        """The commands that set it; not by sysctl(8), which is missing on small systems."""
        return (script('printf "%s" "$2" > "$1"', self._path, value, root=True),)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return self.change(old)

    @property
    def _path(self) -> str:
        return f"/proc/sys/{self.name.replace('.', '/')}"


class LinuxSettings(SystemSettings):
    """The settings of a Linux host."""

    def mtu(self, interface: str, value: int) -> Setting:
        """See :meth:`SystemSettings.mtu`."""
        operation = LinuxMtu(interface)
        return Setting(self.host.name, operation, str(value), operation.change(str(value)), MTU_REMEDY)

    def tcp_buffers(self, size_bytes: int) -> Sequence[Setting]:
        """Pin default and maximum of tcp_rmem and tcp_wmem, so that autotuning neither starts nor ends elsewhere."""
        value = f"{min(SMALLEST_TCP_BUFFER, size_bytes)}\t{size_bytes}\t{size_bytes}"
        operations = LinuxTcpBuffer("net.ipv4.tcp_rmem"), LinuxTcpBuffer("net.ipv4.tcp_wmem")
        return [
            Setting(self.host.name, operation, value, operation.change(value), TCP_BUFFERS_REMEDY)
            for operation in operations
        ]

    @staticmethod
    def tcp_buffers_in(state: Mapping[str, str]) -> tuple[int, ...]:
        """The third field is the maximum, which bounds what autotuning may make of a socket."""
        return tuple(count(state[name].split()[2]) for name in ("tcp_rmem", "tcp_wmem"))
