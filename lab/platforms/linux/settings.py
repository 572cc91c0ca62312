"""What a run changes on a Linux host: the MTU by iproute2, TCP buffers by /proc/sys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.base.errors import LabFailure
from lab.base.untrusted import count
from lab.hosts.command import command, script
from lab.platforms.settings import MTU_REMEDY, TCP_BUFFERS_REMEDY, SystemSettings
from lab.settings.setting import Setting

SMALLEST_TCP_BUFFER = 4096  # the first field of tcp_rmem and tcp_wmem: what a socket keeps when memory runs out


class LinuxSettings(SystemSettings):
    """The settings of a Linux host."""

    def mtu(self, interface: str, value: int) -> Setting:
        """See :meth:`SystemSettings.mtu`."""
        return Setting(
            host=self.host.role,
            name=f"MTU of {interface}",
            read=command("cat", f"/sys/class/net/{interface}/mtu"),
            wanted=str(value),
            apply=(command("ip", "link", "set", "dev", interface, "mtu", str(value), root=True),),
            undo=lambda old: (command("ip", "link", "set", "dev", interface, "mtu", old, root=True),),
            may_cut_off=True,
            remedy=MTU_REMEDY,
        )

    def tcp_buffers(self, size_bytes: int) -> Sequence[Setting]:
        """Pin default and maximum of tcp_rmem and tcp_wmem, so that autotuning neither starts nor ends elsewhere."""
        value = f"{min(SMALLEST_TCP_BUFFER, size_bytes)}\t{size_bytes}\t{size_bytes}"
        return [self._sysctl(f"net.ipv4.{name}", value) for name in ("tcp_rmem", "tcp_wmem")]

    def tcp_buffers_in(self, state: Mapping[str, str]) -> tuple[int, ...]:
        """The third field is the maximum, which bounds what autotuning may make of a socket."""
        try:
            return tuple(count(state[name].split()[2]) for name in ("tcp_rmem", "tcp_wmem"))
        except (LookupError, ValueError) as error:
            message = f"the TCP buffers cannot be read from {dict(state)}"
            raise LabFailure(message, host=self.host.role) from error

    def _sysctl(self, name: str, value: str) -> Setting:
        path = f"/proc/sys/{name.replace('.', '/')}"
        write = 'printf "%s" "$2" > "$1"'  # not sysctl(8): that is missing on small systems
        return Setting(
            host=self.host.role,
            name=name,
            read=command("cat", path),
            wanted=value,
            apply=(script(write, path, value, root=True),),
            undo=lambda old: (script(write, path, old, root=True),),
            remedy=TCP_BUFFERS_REMEDY,
        )
