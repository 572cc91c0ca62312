"""The network of a Linux host, by iproute2 and /sys."""

import re
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface, ip_network

from lab.base.addresses import Interface
from lab.base.errors import Unsupported
from lab.base.untrusted import count
from lab.hosts.command import shell_line
from lab.platforms.network import Medium, Network, Radio

# A wireless interface has one of the two folders; an interface that is down has no duplex. Hardware has a device; a
# bridge, bond or VLAN has a link to the interface below it. A veth and a TAP have neither, but name some speed
MEDIUM = r"""
cd "/sys/class/net/$1" || exit
if [ -e wireless ] || [ -e phy80211 ]; then echo wireless; else echo wired; fi
if ! [ -e device ] && ! ls -d lower_* >/dev/null 2>&1; then echo virtual; fi
cat duplex 2>/dev/null; :
"""
# TUN devices by the lowest digit of their flags (include/uapi/linux/if_tun.h), and devices that name their kind. The
# numbers are in include/uapi/linux/if_arp.h: IP in IP, SIT, GRE
TUNNEL = r"""
cd "/sys/class/net/$1" || exit
case $(cat tun_flags 2>/dev/null) in *1) echo tunnel; exit ;; esac
grep -qxE 'DEVTYPE=(wireguard|ppp)' uevent && echo tunnel
grep -qxE '768|769|776|778' type && echo tunnel; :
"""
# iw may not be installed, and a kernel without wireless extensions has no such file
RADIO = 'iw dev "$1" link 2>/dev/null; cat /proc/net/wireless 2>/dev/null | grep -F "$1:"; :'
# A NAS may lack ip
TABLES = "cat /proc/net/route /proc/net/fib_trie /proc/net/if_inet6 2>/dev/null"
ADDRESSES = f"ls /sys/class/net && echo && {{ ip -o address show 2>/dev/null || {TABLES}; :; }}"
# Without an address, ping says what is wrong: an option that it does not know, else the address that is missing
LACKS_DF = "ping -M do 2>&1 | grep -qiE '(invalid|unrecognized|unknown) option'"
IS_LISTENING = 'cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ":$1 [0-9A-F]*:0000 0A "'


class LinuxNetwork(Network):
    """The network as a Linux host sees it."""

    tunnels = ("tun", "tap", "ppp", "wg", "tailscale", "ipsec")

    def ping_command(self, peer: str, payload_bytes: int) -> tuple[str, ...]:
        """``-M do`` forbids fragments; ``-W`` is in seconds here."""
        return ("ping", "-n", "-M", "do", "-s", str(payload_bytes), "-c", "1", "-W", "2", peer)

    def check_probe(self, peer: str) -> None:
        """The pings of BusyBox, GNU inetutils and toybox have no option that forbids fragments."""
        if self.host.shell(LACKS_DF, check=False).exit_code == 0:
            message = f"the ping of the {self.host.name} knows no `-M do`, and proves no MTU"
            raise Unsupported(message, "install the ping of iputils there, or give both hosts tune = no")

    def listening(self, port: int) -> str:
        """Reads the kernel's table, with ports in hexadecimal; 0A is LISTEN. There is no tcp6 if IPv6 is off."""
        return shell_line(IS_LISTENING, f"{port:04X}")

    def networks(self) -> dict[str, tuple[Interface, ...]]:
        return self.parse(parse_networks, self.host.shell(ADDRESSES))

    def carrier_changes(self, interface: str) -> int | None:
        """Reads the kernel's count (Documentation/ABI/testing/sysfs-class-net; since Linux 3.15)."""
        text = self.host.run("cat", f"/sys/class/net/{interface}/carrier_changes", check=False).stdout.strip()
        return count(text) if text else None

    def is_tunnel(self, interface: str) -> bool:
        """People name interfaces of WireGuard as they like; the kernel knows them."""
        return super().is_tunnel(interface) or "tunnel" in self.host.shell(TUNNEL, interface, check=False).stdout

    def medium(self, interface: str) -> Medium:
        words = self.host.shell(MEDIUM, interface).stdout.split()
        duplex = next((word for word in words if word in ("full", "half")), None)
        return Medium("wireless" in words, duplex, "virtual" in words)

    def radio(self, interface: str) -> Radio:
        """The noise stands in the kernel's old table alone."""
        return self.parse(parse_radio, self.host.shell(RADIO, interface))


def parse_networks(text: str) -> dict[str, tuple[Interface, ...]]:
    """The addresses of each interface, with their networks: the names of all, then ``ip -o address show`` or TABLES.

    The output of iproute2 of any age, and of BusyBox. A name may hold any character: what is not ASCII becomes ``?``.
    """
    names, _, rest = text.partition("\n\n")
    networks: dict[str, list[Interface]] = {re.sub("[^!-~]", "?", name): [] for name in names.splitlines()}
    row = r"^[0-9]+: +(\S+) +inet6? ([0-9a-fA-F.:]{2,45})(?: peer \S+?)?/([0-9]{1,3})(?: |$)"
    for name, address, length in re.findall(row, rest, re.MULTILINE) or _table_addresses(rest):
        if (name := re.sub("[^!-~]", "?", name)) in networks:
            networks[name].append(ip_interface(f"{address}/{length}"))
    if not any(networks.values()):
        raise ValueError("no addresses")
    return {name: tuple(own) for name, own in networks.items()}


def _table_addresses(text: str) -> Iterator[tuple[str, str, int]]:
    """An IPv4 address of the host (in fib_trie) is on the interface that leads to its network."""
    routes = [route for line in text.splitlines() if (route := table_route(line.split(), 4))]
    for address in dict.fromkeys(re.findall(r"\|-- ([0-9.]{7,15})\n +/32 host LOCAL$", text, re.MULTILINE)):
        near = [(network.prefixlen, name) for network, _, name in routes if ip_address(address) in network]
        if near and (length := max(near)[0]):
            yield max(near)[1], address, length
    row = r"^([0-9a-f]{32}) [0-9a-f]{2,8} ([0-9a-f]{2}) [0-9a-f]{2} [0-9a-f]{2} +(\S+)$"
    for address, length, name in re.findall(row, text, re.MULTILINE):
        yield name, str(ip_address(bytes.fromhex(address))), int(length, 16)


def table_route(row: Sequence[str], version: int) -> tuple[IPv4Network | IPv6Network, int, str] | None:
    """Network, metric and interface of a row that is in use (RTF_UP), if it has this version of IP."""
    if version == 6 and len(row) == 10 and int(row[8], 16) & 1 and row[9] != "lo":
        return ip_network((bytes.fromhex(row[0]), int(row[1], 16)), strict=False), int(row[5], 16), row[9]
    if version == 4 and len(row) == 11 and row[3] != "Flags" and int(row[3], 16) & 1:
        network, mask = (bytes.fromhex(row[number])[::-1] for number in (1, 7))
        return ip_network((network, int.from_bytes(mask).bit_count()), strict=False), int(row[6]), row[0]
    return None


def parse_radio(text: str) -> Radio:
    """Parse ``iw dev NAME link`` and the row of /proc/net/wireless; either may be missing.

    The row has status, quality, level and noise. -256 means that the driver does not know the noise, because drivers
    count in a byte (include/uapi/linux/wireless.h).
    """
    rate = re.search(r"^\s+tx bitrate: ([0-9]{1,6}(?:\.[0-9])?) MBit/s", text, re.MULTILINE)
    signal = re.search(r"^\s+signal: (-[0-9]{1,3}) dBm", text, re.MULTILINE)
    row = re.search(r"^ *\S+: [0-9a-f]{4} +[0-9]{1,3}\. +(-?[0-9]{1,3})\. +(-?[0-9]{1,3})\. ", text, re.MULTILINE)
    level, noise = (int(row[1]), int(row[2])) if row else (0, 0)
    return Radio(
        round(float(rate[1]) * 10**6) if rate else None,
        int(signal[1]) if signal else level if level < 0 else None,
        noise if -256 < noise < 0 else None,
    )
