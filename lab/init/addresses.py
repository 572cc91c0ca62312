"""The addresses of this machine, and the addresses and services of others."""

import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Interface, ip_address

DISCARD_PORT = 9  # RFC 863; nothing is sent there
SERVICE_PORTS = {"SMB": 445, "AFP": 548, "NFS": 2049, "SSH": 22}
CONNECT_S = 1.0  # on one link a server answers within milliseconds


@dataclass(frozen=True)
class OwnAddress:
    """An IPv4 address of this machine, with its network and interface."""

    interface: str
    address: IPv4Interface

    @property
    def label(self) -> str:
        """Interface and address, for a list."""
        return f"{self.interface} {self.address.ip}"


def own_addresses() -> list[OwnAddress]:
    """The IPv4 addresses of this machine that others may reach."""
    import ifaddr

    return [
        OwnAddress(adapter.name, IPv4Interface(f"{address.ip}/{address.network_prefix}"))
        for adapter in ifaddr.get_adapters()
        for address in adapter.ips
        if address.is_IPv4 and not ip_address(str(address.ip)).is_loopback
    ]


def address_towards(peer: str) -> str | None:
    """The address from which this machine would send to ``peer``; None if no route leads there."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            peer, DISCARD_PORT, type=socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(place)  # a datagram socket only chooses the route, and sends nothing
            return str(probe.getsockname()[0])
    except OSError:
        return None


def resolve(name: str) -> str | None:
    """An address of a host, IPv4 if possible; None if this machine finds none."""
    try:
        answers = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return None
    places = sorted(answers, key=lambda answer: answer[0] != socket.AF_INET)
    return str(places[0][4][0]) if places else None


def open_services(address: str) -> frozenset[str]:
    """The services of SERVICE_PORTS that answer at an address."""
    with ThreadPoolExecutor(len(SERVICE_PORTS)) as pool:
        answers = pool.map(lambda port: _answers(address, port), SERVICE_PORTS.values())
        return frozenset(name for name, answer in zip(SERVICE_PORTS, answers, strict=True) if answer)


def _answers(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), CONNECT_S).close()
    except OSError:
        return False
    return True
