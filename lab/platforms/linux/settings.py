"""What a run changes on a Linux host: the MTU by iproute2, TCP buffers by /proc/sys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lab.base.untrusted import count
from lab.hosts.command import Command, command, script
from lab.platforms.settings import MTU_REMEDY, TCP_BUFFERS_REMEDY, Mtu, Number, SystemSettings
from lab.settings.operation import Setting

SMALLEST_TCP_BUFFER = 4096  # the first field of tcp_rmem and tcp_wmem: what a socket keeps when memory runs out


@dataclass(frozen=True)
class LinuxMtu(Mtu):
    """The MTU of an interface of a Linux host, 68 to 65535 bytes."""

    kind = "linux-mtu"

    def read(self) -> Command:
        return command("cat", f"/sys/class/net/{self.interface}/mtu")

    def change(self, value: str) -> tuple[Command, ...]:
        return (command("ip", "link", "set", "dev", self.interface, "mtu", value, root=True),)


@dataclass(frozen=True)
class LinuxTcpBuffer(Number):
    """The least, usual and largest size of the TCP buffers of a Linux host, in bytes."""

    kind = "linux-tcp-buffer"
    label_format = "{name}"
    values = r"[0-9]{1,10}\t[0-9]{1,10}\t[0-9]{1,10}"
    least = 1

    name: Literal["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"]
    """The sysctl for receiving or for sending."""

    def read(self) -> Command:
        return command("cat", self._path)

    def change(self, value: str) -> tuple[Command, ...]:
        """The commands that set it; not by sysctl(8), which is missing on small systems."""
        return (script('printf "%s" "$2" > "$1"', self._path, value, root=True),)

    @property
    def _path(self) -> str:
        return f"/proc/sys/{self.name.replace('.', '/')}"


class LinuxSettings(SystemSettings):
    """The settings of a Linux host."""

    def mtu(self, interface: str, value: int) -> Setting:
        return LinuxMtu(interface).setting(self.host.name, str(value), MTU_REMEDY)

    def tcp_buffers(self, size_bytes: int) -> Sequence[Setting]:
        """Pin default and maximum of tcp_rmem and tcp_wmem, so that autotuning neither starts nor ends elsewhere."""
        value = f"{min(SMALLEST_TCP_BUFFER, size_bytes)}\t{size_bytes}\t{size_bytes}"
        buffers = LinuxTcpBuffer("net.ipv4.tcp_rmem"), LinuxTcpBuffer("net.ipv4.tcp_wmem")
        return [buffer.setting(self.host.name, value, TCP_BUFFERS_REMEDY) for buffer in buffers]

    @staticmethod
    def tcp_buffers_in(state: Mapping[str, str]) -> tuple[int, ...]:
        """The third field is the maximum, which bounds what autotuning may make of a socket."""
        return tuple(count(state[name].split()[2]) for name in ("tcp_rmem", "tcp_wmem"))
