"""Linux: iproute2, /proc and /sys. Facts about its commands: docs/reference/platforms.md."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence

from lab.base.errors import LabFailure
from lab.base.untrusted import count, from_json
from lab.hosts.command import command, script
from lab.hosts.fields import interface_name
from lab.platforms.facts import TOOLS, Facts, parse_facts
from lab.platforms.findings import Medium, Noises, Reach
from lab.platforms.linux import counters as linux_counts
from lab.platforms.linux import noise, packages, sampler, tcp
from lab.platforms.linux.ram_disk import RamDisks
from lab.platforms.platform import MTU_REMEDY, TAKE_SAMPLES, TCP_SPACE_REMEDY
from lab.platforms.readings import Reading
from lab.platforms.timing import Counters
from lab.settings.setting import Setting

SMALLEST_TCP_BUFFER = 4096  # the first field of tcp_rmem and tcp_wmem: what a socket keeps when memory runs out
FACTS = r"""
echo "hostname $(hostname)"
echo "kernel $(uname -r)"
echo "os $(. /etc/os-release 2>/dev/null; echo "$PRETTY_NAME")"
echo "cpu $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
echo "cores $(getconf _NPROCESSORS_ONLN)"
echo "user $(id -un)"
echo "uid $(id -u)"
echo "home $HOME"
sed -n 's/^MemTotal: *\([0-9]*\) kB/memory_kib \1/p; s/^MemAvailable: *\([0-9]*\) kB/available_kib \1/p' /proc/meminfo
for tool in "$@"; do
    command -v "$tool" >/dev/null && echo "tool $tool $("$tool" --version 2>/dev/null | sed -n '/./{p;q;}')"
done
echo end
"""
# a wireless interface has one of the two folders, an interface that is down no duplex
MEDIUM = r"""
cd "/sys/class/net/$1" || exit
if [ -e wireless ] || [ -e phy80211 ]; then echo wireless; else echo wired; fi
cat duplex 2>/dev/null; :
"""
# $1 which lines, $2 the peer, then the files: one command, for it is sent right before and right after every transfer
COUNTS = r"""
kept=$1 peer=$2; shift 2
ss -tmin dst "$peer" 2>/dev/null | sed 's/^/ss:/'
grep -sE "$kept" /proc/[0-9]*/stat "$@"; :
"""
MANAGERS = f'for name in {" ".join(packages.INSTALL)}; do command -v "$name" >/dev/null && echo "$name"; done; :'


class Linux(RamDisks):
    """A Linux host, whether a NAS, a server or a host of the local lab."""

    name = "linux"
    uname = "Linux"

    def facts(self, peer: str) -> Facts:
        """See :meth:`Platform.facts`."""
        values, tools = self._parsed(parse_linux_facts, self.host.shell(FACTS, *TOOLS))
        interface = self._read(parse_route, "ip", "-j", "route", "get", peer)
        if not interface:
            raise LabFailure(f"{self.host.role}: {peer} is an address of this host itself; check data_address")
        mtu, mtu_min, mtu_max = self._read(parse_link, "ip", "-j", "-d", "link", "show", "dev", interface)
        speed = self.host.run("cat", f"/sys/class/net/{interface}/speed", check=False).stdout.strip()
        return Facts(
            hostname=values["hostname"],
            platform=self.name,
            os=values["os"],
            kernel=f"Linux {values['kernel']}",
            cpu=values["cpu"],
            cores=int(values["cores"]),
            memory_bytes=int(values["memory_kib"]) * 1024,
            available_bytes=int(values["available_kib"]) * 1024,
            user=values["user"],
            is_root=values["uid"] == "0",
            home=values["home"],
            interface=interface,
            mtu=mtu,
            mtu_min=mtu_min,
            mtu_max=mtu_max or None,
            link_bits_per_s=int(speed) * 10**6 if re.fullmatch(r"[1-9][0-9]{0,8}", speed) else None,
            tools=tools,
        )

    def mtu(self, interface: str, value: int) -> Setting:
        """See :meth:`Platform.mtu`."""
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

    def tcp_space(self, size_bytes: int) -> Sequence[Setting]:
        """Pin default and maximum of tcp_rmem and tcp_wmem, so that autotuning neither starts nor ends elsewhere."""
        value = f"{min(SMALLEST_TCP_BUFFER, size_bytes)}\t{size_bytes}\t{size_bytes}"
        return [self._sysctl(f"net.ipv4.{name}", value) for name in ("tcp_rmem", "tcp_wmem")]

    def tcp_space_in(self, state: Mapping[str, str]) -> tuple[int, ...]:
        """The third field is the maximum, which bounds what autotuning may make of a socket."""
        try:
            return tuple(count(state[name].split()[2]) for name in ("tcp_rmem", "tcp_wmem"))
        except (LookupError, ValueError) as error:
            raise LabFailure(f"{self.host.role}: the TCP buffers cannot be read from {dict(state)}") from error

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
            remedy=TCP_SPACE_REMEDY,
        )

    def ping_command(self, peer: str, payload_bytes: int) -> tuple[str, ...]:
        """``-M do`` forbids fragments; ``-W`` is in seconds here."""
        return ("ping", "-n", "-M", "do", "-s", str(payload_bytes), "-c", "1", "-W", "2", peer)

    def addresses(self) -> dict[str, tuple[str, ...]]:
        """See :meth:`Platform.addresses`."""
        return parse_addresses(self.host.run("ip", "-j", "address", "show").stdout)

    def medium(self, interface: str) -> Medium:
        """See :meth:`Platform.medium`."""
        said = self.host.shell(MEDIUM, interface).stdout.split()
        return Medium("wireless" in said, next((word for word in said if word in ("full", "half")), None))

    def noises(self, folder: str | None) -> Noises:
        """See :meth:`Platform.noises`."""
        return noise.noises(self.host)

    @classmethod
    def tcp_reach(cls, facts: Facts, protocol: str, role: str) -> Reach:
        """Every socket takes tcp_rmem and tcp_wmem unless its program sets sizes: none of those used here does."""
        return Reach(True, "its sockets take the sizes of the system")

    def how_to_install(self, package: str) -> str:
        """See :meth:`Platform.how_to_install`."""
        return packages.how_to_install(package, self.host.shell(MANAGERS).stdout.split())

    def settle(self, directory: str, interface: str, peer: str) -> None:
        """With the stopwatch goes the list of what it reads, and whose connections."""
        super().settle(directory, interface, tcp.as_filter(peer))
        listed = "\n".join((linux_counts.KEPT, self.peer, *linux_counts.counted(interface)))
        self.host.shell('umask 077; cat > "$1/counted"', directory, given=f"{listed}\n")

    def counters(self, interface: str) -> Counters:
        """Without the stopwatch, whose perl takes ten times as long to start."""
        result = self.host.shell(COUNTS, linux_counts.KEPT, self.peer, *linux_counts.counted(interface))
        return self._parsed(lambda text: linux_counts.parse_counters(text.splitlines(), interface), result)

    def parse_counts(self, lines: Iterable[str], interface: str) -> Counters:
        """See :meth:`Platform.parse_counts`."""
        return linux_counts.parse_counters(lines, interface)

    def sampling(self, interface: str) -> Generator[Setting, None, None]:
        """See :mod:`lab.platforms.linux.sampler`."""
        yield from sampler.sampling(self.host, self.directory, self.folder, interface, self.peer)

    def samples(self, interface: str) -> tuple[Reading, ...]:
        """See :meth:`Platform.samples`."""
        result = self.host.shell(TAKE_SAMPLES, sampler.file_of(self.directory))
        return self._parsed(lambda text: sampler.parse(text, interface), result)

    def drop_caches(self) -> None:
        """Only clean pages can be dropped, so sync comes first."""
        self.host.shell("sync; echo 3 > /proc/sys/vm/drop_caches", root=True, deadline_s=120)


def parse_linux_facts(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """As :func:`parse_facts`, with what only Linux says. Raises ValueError."""
    values, tools = parse_facts(text, "os", "cpu", "cores", "memory_kib", "available_kib")
    for name in ("cores", "memory_kib", "available_kib"):
        count(values[name])
    return values, tools


def parse_route(text: str) -> str:
    """The interface that leads to a peer, of ``ip -j route get``; empty where that is this machine itself.

    Raises ValueError.
    """
    try:
        route = from_json(text)[0]
        return "" if route.get("type") == "local" else interface_name(str(route["dev"]))
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("no route") from error


def parse_addresses(text: str) -> dict[str, tuple[str, ...]]:
    """The addresses of each interface, of ``ip -j address show``. Raises LabFailure."""
    try:
        links = [link for link in from_json(text) if "ifname" in link]
        return {
            link["ifname"]: tuple(info["local"] for info in link.get("addr_info", ()) if "local" in info)
            for link in links
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise LabFailure(f"no addresses can be read from what ip printed: {text[:200]!r}") from error


def parse_link(text: str) -> tuple[int, int | None, int | None]:
    """The MTU, the least and the most that it may be, of ``ip -j -d link show``; None where that is not said.

    Older versions print empty objects around the one link. Raises ValueError.
    """
    try:
        link = next(link for link in from_json(text) if isinstance(link, dict) and "mtu" in link)
    except (TypeError, StopIteration) as error:
        raise ValueError("no interface") from error
    least, most = (link.get(name) for name in ("min_mtu", "max_mtu"))
    return count(link["mtu"]), None if least is None else count(least), None if most is None else count(most)


PLATFORM = Linux
