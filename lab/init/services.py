"""Machines on the link that advertise a file server or SSH by DNS-SD (RFC 6763), as Macs and most NAS do."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from lab.base.errors import LabFailure
from lab.base.os_errors import reason_of
from lab.base.untrusted import one_line
from lab.hosts.fields import host_name

if TYPE_CHECKING:
    from zeroconf import Zeroconf

SERVICES = {
    "_smb._tcp.local.": "SMB", "_afpovertcp._tcp.local.": "AFP", "_nfs._tcp.local.": "NFS", "_ssh._tcp.local.": "SSH",
    "_sftp-ssh._tcp.local.": "SSH",
}  # fmt: skip
BROWSE_S = 2.0  # answers come within 120 ms (RFC 6762, 6); a question that was lost is repeated after one second
RESOLVE_S = 2.0  # for all names together that no answer has resolved yet
MOST_SERVICES = 200
LONGEST_NAME = 60  # shown characters of a name; RFC 6763 allows 63 bytes


@dataclass(frozen=True)
class Advertised:
    """A service with the machine's own name, DNS name and addresses."""

    service: str
    name: str
    host: str
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class Machine:
    """A machine on the link: its own name, DNS name, IPv4 addresses and services."""

    name: str
    host: str
    addresses: tuple[str, ...]
    services: tuple[str, ...]

    @property
    def is_file_server(self) -> bool:
        """Whether it advertises more than SSH."""
        return set(self.services) != {"SSH"}


def browse() -> list[Machine]:
    """The machines on the links of this machine, file servers first. Raises LabFailure without a network."""
    from zeroconf import Error, ServiceBrowser, ServiceStateChange, Zeroconf

    names: dict[tuple[str, str], None] = {}

    def note(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if len(names) < MOST_SERVICES:
            names[(service_type, name)] = None

    try:
        with Zeroconf() as zeroconf:
            ServiceBrowser(zeroconf, list(SERVICES), handlers=[note])
            time.sleep(BROWSE_S)
            deadline = time.monotonic() + RESOLVE_S
            return to_machines(_resolve(zeroconf, service_type, name, deadline) for service_type, name in list(names))
    except (OSError, Error, RuntimeError) as error:
        raise LabFailure(f"nobody on the link can be asked by DNS-SD: {reason_of(error)}") from error


def _resolve(zeroconf: Zeroconf, service_type: str, name: str, deadline: float) -> Advertised | None:
    """Host and addresses of a service; None if no answer comes before the deadline."""
    from zeroconf import BadTypeInNameException, IPVersion, ServiceInfo

    try:
        info = ServiceInfo(service_type, name)
    except BadTypeInNameException:
        return None
    left_ms = max(0.0, deadline - time.monotonic()) * 1000
    if not info.load_from_cache(zeroconf) and not (left_ms and info.request(zeroconf, left_ms)):
        return None
    addresses = tuple(info.parsed_addresses(IPVersion.V4Only))
    return Advertised(SERVICES[service_type], name.removesuffix(f".{service_type}"), info.server or "", addresses)


def to_machines(services: Iterable[Advertised | None]) -> list[Machine]:
    """The machines with these services, without names that a hosts file refuses and addresses of no use."""
    machines: dict[str, Machine] = {}
    for service in services:
        if service is None or not (addresses := tuple(filter(_is_usable, service.addresses))):
            continue
        try:
            host = host_name(service.host.rstrip("."))
        except ValueError:
            continue
        name = one_line(service.name, LONGEST_NAME) or host
        machine = machines.get(host.lower(), Machine(name, host, (), ()))
        machines[host.lower()] = Machine(
            machine.name if machine.is_file_server and machine.services else name,
            machine.host,
            tuple(dict.fromkeys([*machine.addresses, *addresses])),
            tuple(sorted({*machine.services, service.service})),
        )
    return sorted(machines.values(), key=lambda machine: (not machine.is_file_server, machine.name.casefold()))


def _is_usable(address: str) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    is_bound_to_a_link = parsed.version == 6 and parsed.is_link_local
    return not (parsed.is_loopback or parsed.is_multicast or parsed.is_unspecified or is_bound_to_a_link)
