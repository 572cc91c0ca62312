"""The networks that both hosts are on: which addresses a run can take, and where bytes of SMB may go besides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Interface

from lab import protocols
from lab.base.errors import Absent
from lab.check.finding import Finding
from lab.check.machine import Machine
from lab.hosts.hosts_file import ShareConfig

SUBJECT = "link networks"


@dataclass(frozen=True)
class Common:
    """A network that both hosts are on: the interface and the address of each, and whether either is Wi-Fi."""

    network: str
    client: tuple[str, str]
    server: tuple[str, str]
    wireless: bool

    @property
    def label(self) -> str:
        """In a few words."""
        wireless = ", Wi-Fi" if self.wireless else ""
        return f"{self.network} ({self.client[0]} of the client, {self.server[0]} of the server{wireless})"


def findings(share: ShareConfig, client: Machine, server: Machine) -> Iterator[Finding]:
    """What else but the data addresses could be taken, or is taken. Raises LabFailure and ValueError."""
    common = sorted(find_common(client, server), key=lambda network: network.wireless)
    taken = (client.config.data_address, server.config.data_address)
    own = next((network for network in common if (network.client[1], network.server[1]) == taken), None)
    others = [network for network in common if network is not own]
    for network in others if own is None else [other for other in others if own.wireless and not other.wireless]:
        addresses = f"data_address = {network.client[1]} in [client] and {network.server[1]} in [server]"
        yield Finding("note", SUBJECT, f"both hosts are on {network.label}", f"{addresses} would measure it")
    if own:
        also = f", and on {' and '.join(network.label for network in others)}" if others else ""
        yield Finding("ok", SUBJECT, f"both hosts are on {own.label}{also}")
        yield from _check_ways(share, client, server, others)


def find_common(client: Machine, server: Machine) -> Iterator[Common]:
    """The networks with an address of each host. That two have the same numbers does not prove that they are one."""
    of_server = list(_addresses(server))
    for name, address in _addresses(client):
        for peer_name, peer in of_server:
            if address.network == peer.network and address.ip != peer.ip:
                wireless = _is_wireless(client, name) or _is_wireless(server, peer_name)
                yield Common(str(address.network), (name, str(address.ip)), (peer_name, str(peer.ip)), wireless)


def _addresses(machine: Machine) -> Iterator[tuple[str, IPv4Interface]]:
    for name, addresses in machine.platform.network.networks().items():
        for address in addresses:
            # every interface without a server of addresses has one of 169.254, whatever it is connected to
            if not address.is_loopback and not address.is_link_local and not name.startswith(_tunnels(machine)):
                yield name, address


def _tunnels(machine: Machine) -> tuple[str, ...]:
    return machine.platform.network.tunnels


def _is_wireless(machine: Machine, interface: str) -> bool:
    return machine.platform.network.medium(interface).wireless is True


def _check_ways(share: ShareConfig, client: Machine, server: Machine, others: list[Common]) -> Iterator[Finding]:
    """Where a protocol takes other networks besides: a server of the lab's own listens on the data address alone."""
    for name, protocol in sorted(protocols.by_name().items()) if others else ():
        with suppress(Absent):
            is_alone = share.serve == "lab" and protocol.driver(server.platform.name).own_server
            if not is_alone and protocol.driver(client.platform.name).takes_every_network(client.side):
                ways = " and ".join(network.label for network in others)
                message = f"this client sends over {ways}, too, where the server takes it: such trials are void"
                yield Finding("warning", name, message, f"give {name}.multichannel = [false] in the sweep")
