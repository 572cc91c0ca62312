"""The network of a Mac, by ifconfig, networksetup and ping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Interface

from lab.base.errors import LabFailure
from lab.hosts.command import shell_line
from lab.platforms.findings import Medium, Radio
from lab.platforms.macos.parsers import parse_addresses, parse_ifconfig, parse_networks, parse_ports, parse_sizes
from lab.platforms.macos.sysctl import sysctl_setting
from lab.platforms.macos.wifi import parse_airport, parse_uplink
from lab.platforms.network import Network
from lab.settings.setting import Setting

WIRELESS = ("Wi-Fi", "AirPort")  # AirPort up to 10.6
LONGEST_PROBE = 16384  # bytes; longer than every jumbo frame
RAW_SOCKET = ("net.inet.raw.maxdgram", "net.inet.raw.recvspace")
IS_LISTENING = 'netstat -an 2>/dev/null | grep LISTEN | grep -q "[.]$1 "'


class MacNetwork(Network):
    """The network as a Mac sees it."""

    tunnels = ("utun", "tun", "tap", "ppp", "ipsec")

    def ping_command(self, peer: str, payload_bytes: int) -> tuple[str, ...]:
        """``-D`` forbids fragments; ``-W`` is in milliseconds here."""
        return ("ping", "-n", "-D", "-s", str(payload_bytes), "-c", "1", "-W", "2000", peer)

    def listening(self, port: int) -> str:
        """By netstat, which prints an address and its port with a dot between."""
        return shell_line(IS_LISTENING, str(port))

    def probe_settings(self, mtu: int) -> Sequence[Setting]:
        """What must be in effect while a path is proved for this MTU: sockets that hold such a packet.

        They hold 8192 bytes, and of a longer packet ping says what it also says of an MTU that is too small:
        "Message too long" (xnu: raw_ip.c, ip_icmp.c).
        """
        sizes = self.read(lambda text: parse_sizes(text, RAW_SOCKET), "sysctl", *RAW_SOCKET)
        small = [name for name, size in sizes.items() if size < mtu]
        remedy = f"without it no ping here proves an MTU of {mtu}: leave that out of the sweep"
        return [sysctl_setting(self.host.name, name, str(max(LONGEST_PROBE, mtu)), remedy) for name in small]

    def prove_path(self, peer: str, mtu: int) -> None:
        """See :meth:`Network.prove_path`; the settings of :meth:`probe_settings` must be in effect: it is checked."""
        missing = " and ".join(setting.name for setting in self.probe_settings(mtu))
        if missing:
            message = f"ping cannot send {mtu} bytes at once: {missing} must be raised first"
            raise LabFailure(message, host=self.host.name)
        super().prove_path(peer, mtu)

    def addresses(self) -> dict[str, tuple[str, ...]]:
        """See :meth:`Network.addresses`."""
        return self.read(parse_addresses, "ifconfig", "-a")

    def networks(self) -> dict[str, tuple[IPv4Interface, ...]]:
        """See :meth:`Network.networks`."""
        return self.read(parse_networks, "ifconfig", "-a")

    def medium(self, interface: str) -> Medium:
        """See :meth:`Network.medium`. Before 10.9 ifconfig shows a Wi-Fi card like any other; what networksetup calls
        it depends on the Mac's language.
        """
        link = self.read(parse_ifconfig, "ifconfig", "-v", interface)
        kind = link.kind or self.read(parse_ports, "networksetup", "-listallhardwareports").get(interface)
        return Medium(None if kind is None else kind in WIRELESS, link.duplex)

    def radio(self, interface: str) -> Radio:
        """See :meth:`Network.radio`. As root system_profiler names no network, as users of it report."""
        rate = self.read(parse_uplink, "ifconfig", "-v", interface)
        air = self.read(lambda text: parse_airport(text, interface), "system_profiler", "-xml", "SPAirPortDataType")
        return replace(air, bits_per_s=rate or air.bits_per_s)
