"""Linux: iproute2, /proc and /sys. Facts about its commands: docs/reference/platforms.md."""

import re
from ipaddress import ip_address

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import count, word
from lab.hosts.fields import interface_name
from lab.platforms.facts import TOOLS, Facts, parse_facts
from lab.platforms.linux.clock import LinuxClock
from lab.platforms.linux.files import LinuxFiles, LinuxPrograms
from lab.platforms.linux.mounts import LinuxMounts
from lab.platforms.linux.network import LinuxNetwork, table_route
from lab.platforms.linux.preflight import LinuxPreflight
from lab.platforms.linux.ram_disk import LinuxRamDisks
from lab.platforms.linux.settings import LinuxSettings
from lab.platforms.platform import Platform

FACTS = read_script(__file__, "facts.sh")
# Old versions of iproute2 and BusyBox know no -j, and a host may lack ip. $1 an address, then the words of its zone
ROUTE = 'ip -o route get "$@" 2>/dev/null || cat /proc/net/route /proc/net/ipv6_route 2>/dev/null; :'
REFUSED = ("unreachable", "prohibit", "blackhole", "throw")  # kinds of routes that lead nowhere
LINK = 'cat "/sys/class/net/$1/mtu" && { ip -o -d link show dev "$1" 2>/dev/null; :; }'


class NoRoute(ValueError):
    """There is no route to an address."""


class Linux(Platform):
    """A Linux host, whether a NAS, a server or a host of the local lab."""

    name = "linux"
    uname = "Linux"
    settings_class = LinuxSettings
    ram_disks_class = LinuxRamDisks
    clock_class = LinuxClock
    files_class = LinuxFiles
    network_class = LinuxNetwork
    programs_class = LinuxPrograms
    mounts_class = LinuxMounts
    preflight_class = LinuxPreflight

    def facts(self, peer: str) -> Facts:
        values, tools = self.parse(parse_linux_facts, self.host.shell(FACTS, *TOOLS))
        interface = self._interface_to(peer)
        link = self.host.shell(LINK, interface)
        mtu, mtu_min, mtu_max = self.parse(parse_link, link)
        speed = self.host.run("cat", f"/sys/class/net/{interface}/speed", check=False).stdout.strip()
        return Facts(
            hostname=values["hostname"], platform=self.name, os=values["os"], kernel=f"Linux {values['kernel']}",
            cpu=values["cpu"], cores=int(values["cores"]), memory_bytes=int(values["memory_kib"]) * 1024,
            available_bytes=int(values["available_kib"]) * 1024, user=values["user"], is_root=values["uid"] == "0",
            home=values["home"], interface=interface, mtu=mtu, mtu_min=mtu_min, mtu_max=mtu_max or None,
            link_bits_per_s=int(speed) * 10**6 if re.fullmatch(r"[1-9][0-9]{0,8}", speed) else None, tools=tools,
            congestion=values.get("congestion") or None,
        )  # fmt: skip

    def _interface_to(self, peer: str) -> str:
        """The interface that leads to a peer. Raises LabFailure."""
        address, _, zone = peer.partition("%")
        remedy = f"is data_address {peer} of the other host right?"
        try:
            routes = self.host.shell(ROUTE, address, *(("oif", zone) if zone else ())).stdout
            interface = parse_route(routes, peer)
        except NoRoute as error:
            raise LabFailure(f"no route leads to {peer}", remedy, host=self.host.name) from error
        except ValueError as error:
            message = f"the interface that leads to {peer} has a name that the lab cannot write into commands"
            remedy = "give it one of letters and digits there: `ip link set dev NAME name lan0`"
            raise LabFailure(message, remedy, host=self.host.name) from error
        if not interface:
            raise LabFailure(f"{peer} is an address of this host itself", remedy, host=self.host.name)
        return interface


def parse_linux_facts(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """As :func:`parse_facts`, with what only Linux says."""
    values, tools = parse_facts(text, "os", "cpu", "cores", "memory_kib", "available_kib")
    for name in ("cores", "memory_kib", "available_kib"):
        count(values[name])
    if values.get("congestion"):
        word(values["congestion"], "[A-Za-z0-9_-]{1,15}")  # TCP_CA_NAME_MAX of the kernel is 16, with its NUL
    return values, tools


def parse_route(text: str, peer: str) -> str:
    """The interface that leads to a peer; empty if that is this machine itself.

    ``text`` is a line of ``ip -o route get``, from iproute2 of any age or BusyBox, or /proc/net/route and ipv6_route.
    """
    words = text.split()
    if words and words[0] in REFUSED:
        raise NoRoute("no route")
    if "dev" in words and not text.startswith("Iface"):
        return "" if words[0] == "local" else interface_name(words[words.index("dev") + 1])
    bare, _, zone = peer.partition("%")
    address = ip_address(bare)
    routes = [route for line in text.splitlines() if (route := table_route(line.split(), address.version))]
    to_peer = [route for route in routes if address in route[0] and zone in ("", route[2])]
    if not to_peer:
        raise NoRoute("no route")
    return interface_name(max(to_peer, key=lambda route: (route[0].prefixlen, -route[1]))[2])


def parse_link(text: str) -> tuple[int, int | None, int | None]:
    """MTU, its least and largest value (None: not told), of /sys and ``ip -d link``, whose older versions lack them."""
    mtu, _, rest = text.partition("\n")
    least, most = (re.search(rf"\b{name}mtu ([0-9]+)\b", rest) for name in ("min", "max"))
    return count(mtu), count(least[1]) if least else None, count(most[1]) if most else None


PLATFORM = Linux
