"""The network of a Mac, by ifconfig, networksetup and ping."""

import re
from collections.abc import Sequence
from dataclasses import replace

from lab.base.addresses import Interface
from lab.base.errors import LabFailure, Unsupported
from lab.hosts import macos_privacy
from lab.hosts.command import shell_line
from lab.platforms.macos import parsers
from lab.platforms.macos.settings import MacSysctl, Name
from lab.platforms.network import Medium, Network, Radio
from lab.settings.operation import Setting

WIRELESS = ("Wi-Fi", "AirPort")  # AirPort up to 10.6
LONGEST_PROBE = 16384  # bytes; longer than every jumbo frame
RAW_SOCKET: tuple[Name, ...] = ("net.inet.raw.maxdgram", "net.inet.raw.recvspace")
FORBIDS_FRAGMENTS = "ping6 2>&1 | grep -q -- -D"  # without an address it prints its usage
IS_LISTENING = 'netstat -an 2>/dev/null | grep LISTEN | grep -q "[.]$1 "'


class MacNetwork(Network):
    """The network as a Mac sees it."""

    tunnels = ("utun", "tun", "tap", "ppp", "ipsec")
    longest_ping = 8192  # without the settings of probe_settings

    def ping_command(self, peer: str, payload_bytes: int) -> tuple[str, ...]:
        """``-D`` forbids fragments; ``-W`` is in milliseconds here. ping6 always waits ten seconds, and has ``-b``."""
        if ":" in peer:
            buffer_bytes = str(max(LONGEST_PROBE, payload_bytes))
            return ("ping6", "-n", "-D", "-m", "-b", buffer_bytes, "-s", str(payload_bytes), "-c", "1", peer)
        return ("ping", "-n", "-D", "-s", str(payload_bytes), "-c", "1", "-W", "2000", peer)

    def kept_off(self) -> str:
        """By what started the lab: a job of launchd, or a program other than Terminal and sshd."""
        return macos_privacy.kept_off_network(macos_privacy.starter_of(self.host))

    def listening(self, port: int) -> str:
        """Reads netstat, which prints a dot between address and port."""
        return shell_line(IS_LISTENING, str(port))

    def probe_settings(self, mtu: int) -> Sequence[Setting]:
        """What must be in effect while a path is proved for this MTU: sockets that hold such a packet.

        They hold 8192 bytes, and of a longer packet ping says what it also says of an MTU that is too small:
        "Message too long" (xnu: raw_ip.c, ip_icmp.c).
        """
        sizes = self.read(lambda text: parsers.parse_sizes(text, RAW_SOCKET), "sysctl", *RAW_SOCKET)
        remedy = f"without it no ping here proves an MTU of {mtu}: leave that out of the sweep"
        value = str(max(LONGEST_PROBE, mtu))
        return [MacSysctl(name).setting(self.host.name, value, remedy) for name in RAW_SOCKET if sizes[name] < mtu]

    def prove_path(self, peer: str, mtu: int) -> None:
        """The settings of :meth:`probe_settings` must be in effect: it is checked."""
        missing = " and ".join(setting.name for setting in self.probe_settings(mtu))
        if missing:
            message = f"ping cannot send {mtu} bytes at once: {missing} must be raised first"
            raise LabFailure(message, host=self.host.name)
        super().prove_path(peer, mtu)

    def check_probe(self, peer: str) -> None:
        """Before 10.9 ping6 has no option that forbids fragments."""
        if ":" in peer and self.host.shell(FORBIDS_FRAGMENTS, check=False).exit_code != 0:
            message = "ping6 of Macs before 10.9 cannot prove an MTU: it always allows fragments"
            raise Unsupported(message, "give both hosts a data_address of IPv4", host=self.host.name)

    def networks(self) -> dict[str, tuple[Interface, ...]]:
        return self.read(parsers.parse_networks, "ifconfig", "-a")

    def medium(self, interface: str) -> Medium:
        """Before 10.9 ifconfig does not name Wi-Fi; networksetup names it in the Mac's language."""
        link = self.read(parsers.parse_ifconfig, "ifconfig", "-v", interface)
        kind = link.kind or self.read(parsers.parse_ports, "networksetup", "-listallhardwareports").get(interface)
        return Medium(None if kind is None else kind in WIRELESS, link.duplex)

    def radio(self, interface: str) -> Radio:
        """As root system_profiler names no network, as users of it report."""
        rate = self.read(lambda text: parsers.parse_rate(text, "uplink"), "ifconfig", "-v", interface)
        air = self.read(lambda text: parse_airport(text, interface), "system_profiler", "-xml", "SPAirPortDataType")
        return replace(air, bits_per_s=rate or air.bits_per_s)


def parse_airport(text: str, interface: str) -> Radio:
    """The network that an interface is in, of ``system_profiler -xml SPAirPortDataType``; empty where it is in none."""
    content = parsers.parse_plist(text)
    if not isinstance(content, list):
        raise ValueError("not the output of system_profiler")
    items = [item for section in _dicts(content) for item in _dicts(section.get("_items"))]
    for card in (card for item in items for card in _dicts(item.get("spairport_airport_interfaces"))):
        network = card.get("spairport_current_network_information")
        if card.get("_name") == interface and isinstance(network, dict):
            levels = str(network.get("spairport_signal_noise", ""))  # such as ``-54 dBm / -92 dBm``
            match = re.fullmatch(r"(-[0-9]{1,3}) dBm(?: / (-[0-9]{1,3}) dBm)?", levels)
            signal, noise = match.groups() if match else (None, None)
            rate = str(network.get("spairport_network_rate"))  # Mbit/s
            return Radio(
                int(rate) * 10**6 if re.fullmatch("[1-9][0-9]{0,5}", rate) else None,
                int(signal) if signal else None,
                int(noise) if noise else None,
            )
    return Radio()


def _dicts(entries: object) -> list[dict[str, object]]:
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
