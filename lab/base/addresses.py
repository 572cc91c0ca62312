"""IP addresses: how they are written before a path or a port, and the zone of a link-local one, as in fe80::1%eth0."""

import socket
from collections.abc import Sequence
from ipaddress import IPv4Interface, IPv6Interface
from typing import TypeAlias

DISCARD_PORT = 9  # RFC 863; nothing is sent there
Interface: TypeAlias = IPv4Interface | IPv6Interface  # an address with the prefix of its network


def for_url(address: str) -> str:
    """An address or name as the host of a URL (RFC 3986; RFC 6874 for the zone)."""
    return for_command(address.replace("%", "%25")) if ":" in address else address


def for_command(address: str) -> str:
    """An address or name as rsync, mount and ssh's known_hosts take it before a colon."""
    return f"[{address}]" if ":" in address else address


def without_brackets(host: str) -> str:
    """The inverse of :func:`for_command`."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def without_zone(address: str) -> str:
    """An address without the interface that it is local to."""
    return address.partition("%")[0]


def seen_from(own_address: str, address: str) -> str:
    """A peer's address as the host of ``own_address`` reaches it: a link-local one by the host's own interface."""
    bare, has_zone, _ = address.partition("%")
    zone = own_address.partition("%")[2]
    return f"{bare}%{zone}" if has_zone and zone else address


def with_zone(socket_address: Sequence[str | int | bytes]) -> str:
    """The address of a Python socket address, which holds the zone as a number. Raises OSError for an unknown zone."""
    address, scope = str(socket_address[0]), socket_address[3] if len(socket_address) > 3 else 0
    return f"{address}%{socket.if_indextoname(int(scope))}" if scope and "%" not in address else address


def own_address_towards(peer: str) -> str:
    """The address from which this machine would send to an address. Raises OSError if no route leads there."""
    family, kind, protocol, _, place = socket.getaddrinfo(
        peer, DISCARD_PORT, type=socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST
    )[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.connect(place)  # a datagram socket only chooses the route, and sends nothing
        return with_zone(probe.getsockname())
