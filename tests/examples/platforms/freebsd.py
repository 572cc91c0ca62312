"""FreeBSD: BSD tools, tmpfs."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from lab.base.errors import Unsupported
from lab.base.untrusted import count
from lab.hosts.command import Command, command, script
from lab.hosts.fields import interface_name
from lab.platforms.clock import Clock, by_source
from lab.platforms.facts import TOOLS, Facts, parse_facts
from lab.platforms.files import Files
from lab.platforms.network import Network
from lab.platforms.platform import Platform
from lab.platforms.ram_disk import RamDisks
from lab.platforms.settings import MTU_REMEDY, TCP_BUFFERS_REMEDY, Mtu, Number, SystemSettings
from lab.platforms.timing import Counters
from lab.settings.operation import Mounted, Setting

FACTS = r"""
peer=$1; shift
echo "hostname $(hostname)"; echo "kernel FreeBSD $(uname -r)"; echo "user $(id -un)"; echo "uid $(id -u)"
echo "home $HOME"; echo "cpu $(sysctl -n hw.model)"; echo "cores $(sysctl -n hw.ncpu)"
echo "memory $(sysctl -n hw.physmem)"
echo "free $(($(sysctl -n vm.stats.vm.v_free_count) * $(sysctl -n hw.pagesize)))"
route -n get "$peer" | sed -n 's/^ *interface: /interface /p'
for tool in "$@"; do command -v "$tool" >/dev/null && echo "tool $tool"; done; echo end
"""
READ_MTU = r"""ifconfig "$1" | sed -n '1s/.* mtu \([0-9]*\).*/\1/p' | grep ."""
IS_MOUNTED = 'case $(mount) in *" on $1 ("*) echo mounted ;; *) echo absent ;; esac'
COUNTS = r"""
sub counts {
    my ($when, $interface) = @_;
    my @sysctl = map { "sysctl:$_" } printed('sysctl', 'net.inet.tcp.recvspace', 'net.inet.tcp.sendspace');
    my @netstat = map { "netstat:$_" } printed('netstat', '-I', $interface, '-b', '-n');
    die "no interface $interface\n" unless @netstat > 1;
    return (@sysctl, @netstat);
}
"""
BUFFERS = ("recvspace", "sendspace")


@dataclass(frozen=True)
class FreeBSDMtu(Mtu):
    """The MTU of an interface of a FreeBSD host, in bytes."""

    kind = "freebsd-mtu"

    def read(self) -> Command:
        return script(READ_MTU, self.interface)

    def change(self, value: str) -> tuple[Command, ...]:
        return (command("ifconfig", self.interface, "mtu", value, root=True),)


@dataclass(frozen=True)
class FreeBSDTcpBuffer(Number):
    """A sysctl that sets the size of TCP buffers on a FreeBSD host."""

    kind = "freebsd-tcp-buffer"
    label_format = "{name}"
    values = "[0-9]{1,10}"
    least = 0

    name: Annotated[str, Field(pattern=r"^net\.inet\.tcp\.(recvbuf_auto|sendbuf_auto|recvspace|sendspace)$")]
    """Its name in sysctl."""

    @property
    def label(self) -> str:
        return self.name

    def read(self) -> Command:
        return command("sysctl", "-n", self.name)

    def change(self, value: str) -> tuple[Command, ...]:
        return (command("sysctl", f"{self.name}={value}", root=True),)


@dataclass(frozen=True)
class FreeBSDTmpfs(Mounted):
    """A tmpfs of FreeBSD, mounted at a folder of the lab's own."""

    kind = "freebsd-tmpfs"
    label_format = "RAM disk {path}"

    def read(self) -> Command:
        return script(IS_MOUNTED, self.path)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (command("umount", "-f", self.path, root=True),)


class FreeBSDSettings(SystemSettings):
    """The settings of a FreeBSD host."""

    def mtu(self, interface: str, value: int) -> Setting:
        return FreeBSDMtu(interface).setting(self.host.name, str(value), MTU_REMEDY)

    def tcp_buffers(self, size_bytes: int) -> Sequence[Setting]:
        """Autotuning off, then the sizes that every new socket gets."""
        sizes = {"recvbuf_auto": 0, "sendbuf_auto": 0} | dict.fromkeys(BUFFERS, size_bytes)
        return [
            FreeBSDTcpBuffer(f"net.inet.tcp.{name}").setting(self.host.name, str(value), TCP_BUFFERS_REMEDY)
            for name, value in sizes.items()
        ]

    @staticmethod
    def tcp_buffers_in(state: Mapping[str, str]) -> tuple[int, ...]:
        return tuple(int(state[name]) for name in BUFFERS)


class FreeBSDRamDisks(RamDisks):
    """Makes RAM disks on a FreeBSD host."""

    formats = ("tmpfs",)

    def make(
        self, path: str, size_bytes: int, layout: str | None = None, private: bool = False
    ) -> Generator[Setting, None, str]:
        self.check(layout)
        options = f"size={size_bytes},mode={'700' if private else '1777'},uid={self.uid()}"
        mount = command("mount", "-t", "tmpfs", "-o", options, "tmpfs", path, root=True)
        yield Setting(self.host.name, FreeBSDTmpfs(path), "mounted", (mount,))
        return "tmpfs"


class FreeBSDClock(Clock):
    """The clock and the counters of a FreeBSD host."""

    counts = COUNTS

    def parse_counters(self, lines: Iterable[str], interface: str) -> Counters:
        """Lines ``COMMAND:line`` of netstat and sysctl. FreeBSD's commands print no CPU seconds of the host."""
        printed = by_source(lines)
        row = parse_netstat(printed.get("netstat", []))
        sizes = dict(line.rpartition(".")[2].split(": ") for line in printed.get("sysctl", []))
        state = {name: str(count(sizes.get(name, ""))) for name in BUFFERS} | {"mtu": row["Mtu"]}
        return Counters(count(row["Obytes"]), count(row["Ibytes"]), cpu_s=None, retransmits=None, state=state)


class FreeBSDFiles(Files):
    """The files of a FreeBSD host."""

    def drop_caches(self) -> None:
        """FreeBSD has no command for this; only the fresh mount before each read helps."""

    def check_cold_reads(self) -> None:
        remedy = "leave server_cache = cold out of the sweep"
        raise Unsupported("FreeBSD cannot be made to read its disk again", remedy, host=self.host.name)


class FreeBSDNetwork(Network):
    """The network as a FreeBSD host sees it."""

    def ping_command(self, peer: str, payload_bytes: int) -> tuple[str, ...]:
        """``-D`` forbids fragments; ``-W`` is in milliseconds."""
        return ("ping", "-n", "-D", "-s", str(payload_bytes), "-c", "1", "-W", "2000", peer)

    def listening(self, port: int) -> str:
        return f"netstat -an -p tcp | grep LISTEN | grep -q '[.]{port} '"


class FreeBSD(Platform):
    """A FreeBSD host."""

    name = "freebsd"
    uname = "FreeBSD"
    settings_class = FreeBSDSettings
    ram_disks_class = FreeBSDRamDisks
    clock_class = FreeBSDClock
    files_class = FreeBSDFiles
    network_class = FreeBSDNetwork

    def facts(self, peer: str) -> Facts:
        values, tools = self.parse(parse_freebsd_facts, self.host.shell(FACTS, peer, *TOOLS))
        interface = values["interface"]
        mtu = self.parse(lambda text: count(text.strip()), self.host.shell(READ_MTU, interface))
        return Facts(
            hostname=values["hostname"], platform=self.name, os="FreeBSD", kernel=values["kernel"], cpu=values["cpu"],
            cores=int(values["cores"]), memory_bytes=int(values["memory"]), available_bytes=int(values["free"]),
            user=values["user"], is_root=values["uid"] == "0", home=values["home"], interface=interface, mtu=mtu,
            tools=tools,
        )  # fmt: skip


def parse_freebsd_facts(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Parse all that FACTS prints. Raises ValueError."""
    values, tools = parse_facts(text, "cpu", "cores", "memory", "free", "interface")
    for name in ("cores", "memory", "free"):
        count(values[name])
    interface_name(values["interface"])
    return values, tools


def parse_netstat(lines: Sequence[str]) -> dict[str, str]:
    """The row of the whole interface in what ``netstat -I NAME -b -n`` prints, by its columns. Raises ValueError."""
    head, *rows = [line.split() for line in lines] or [[]]
    for row in rows:
        if len(row) == len(head) and row[2].startswith("<Link#"):
            return dict(zip(head, row, strict=True))
    raise ValueError("no row of the interface")


PLATFORM = FreeBSD
