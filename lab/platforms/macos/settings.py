"""What a run changes on a Mac: the MTU by ifconfig, TCP buffers by sysctl, and that it stays awake."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import count
from lab.hosts.command import Command, command, script
from lab.platforms.macos.parsers import parse_sysctl
from lab.platforms.settings import MTU_REMEDY, TCP_BUFFERS_REMEDY, Mtu, Number, SystemSettings
from lab.settings.background import background_process
from lab.settings.operation import Setting

READ_MTU = r"""ifconfig "$1" | sed -n '1s/.* mtu \([0-9][0-9]*\).*/\1/p' | grep ."""
AWAIT_LINK = read_script(__file__, "await_link.sh")
Name: TypeAlias = Literal[
    "net.inet.raw.maxdgram", "net.inet.raw.recvspace", "net.inet.tcp.autosndbufmax", "net.inet.tcp.doautorcvbuf",
    "net.inet.tcp.doautosndbuf", "net.inet.tcp.recvspace", "net.inet.tcp.sendspace", "net.inet.tcp.sockthreshold",
]  # fmt: skip
# What keeps the sizes of buffers from changing; each version has some of it
PINS: tuple[Name, ...] = (
    "net.inet.tcp.sockthreshold", "net.inet.tcp.doautorcvbuf",
    "net.inet.tcp.doautosndbuf", "net.inet.tcp.autosndbufmax",
)  # fmt: skip
SPACES: tuple[Name, ...] = ("net.inet.tcp.sendspace", "net.inet.tcp.recvspace")


@dataclass(frozen=True)
class MacMtu(Mtu):
    """The MTU of an interface of a Mac, 68 to 65535 bytes."""

    kind = "mac-mtu"

    def read(self) -> Command:
        return script(READ_MTU, self.interface)

    def change(self, value: str) -> tuple[Command, ...]:
        to = command("ifconfig", self.interface, "mtu", value, root=True)
        return to, script(AWAIT_LINK, self.interface, deadline_s=60)


@dataclass(frozen=True)
class MacSysctl(Number):
    """A number that the kernel of a Mac goes by."""

    kind = "mac-sysctl"
    label_format = "{name}"
    values = "[0-9]{1,10}"
    least = 0

    name: Name
    """The name of the number, as sysctl(8) has it."""

    def read(self) -> Command:
        """An unknown name may exit 0."""
        return script('sysctl -n "$1" | grep "^[0-9]"', self.name)

    def change(self, value: str) -> tuple[Command, ...]:
        """The commands that set it; without -w, 10.6 to 10.9 refuse."""
        return (command("sysctl", "-w", f"{self.name}={value}", root=True),)


class MacSettings(SystemSettings):
    """The settings of a Mac."""

    def mtu(self, interface: str, value: int) -> Setting:
        """ifconfig only warns of a refusal and exits 0: what reads back decides."""
        return MacMtu(interface).setting(self.host.name, str(value), MTU_REMEDY)

    def tcp_buffers(self, size_bytes: int) -> Sequence[Setting]:
        """The starting sizes, and whatever keeps them from changing on this version.

        10.6 and 10.7 raise small buffers while few sockets exist (sockthreshold) and know no autotuning; 10.8 to 10.15
        switch it off each way; from 11 on that switch is gone for sending, and its ceiling is lowered instead.
        """
        # An unknown name prints nothing on standard output, whatever the version and the exit code.
        loop = 'for name in "$@"; do sysctl "$name" 2>/dev/null; done; :'
        present = self.parse(parse_sysctl, self.host.shell(loop, *PINS))
        threshold, receive, send, send_max = (name in present for name in PINS)
        if not (threshold or (receive and (send or send_max))):
            message = f"TCP buffers cannot be pinned: from {[*PINS]}, sysctl knows only {present}"
            raise LabFailure(message, host=self.host.name)
        values = {name: "0" for name in PINS[:3] if name in present}
        if send_max and not send:
            values[PINS[3]] = str(size_bytes)
        values |= dict.fromkeys(SPACES, str(size_bytes))
        return [MacSysctl(name).setting(self.host.name, value, TCP_BUFFERS_REMEDY) for name, value in values.items()]

    @staticmethod
    def tcp_buffers_in(state: Mapping[str, str]) -> tuple[int, ...]:
        return tuple(count(state[name]) for name in ("recvspace", "sendspace"))

    def awake(self, directory: str) -> Generator[Setting, None, None]:
        """Whatever of the two this version has; -s holds on mains only, as it says itself."""
        argv = ("/bin/sh", "-c", "command -v caffeinate >/dev/null && exec caffeinate -i -s; exec pmset noidle")
        yield background_process(self.host.name, "awake", argv, directory, root=False)
