"""The networks that both hosts are on: which data addresses a run could take, and where SMB would send besides."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface

from lab import protocols
from lab.base.errors import Absent
from lab.check.finding import Finding
from lab.check.machine import Machine
from lab.hosts.hosts_file import ShareConfig
from lab.protocols import Protocol

SUBJECT = "link networks"


@dataclass(frozen=True)
class End:
    """Where a host is on a network: its interface, and its address there."""

    interface: str
    address: str


@dataclass(frozen=True)
class CommonNetwork:
    """A network that both hosts have an address of; ``wireless`` where either of the two interfaces is Wi-Fi."""

    network: str
    client: End
    server: End
    wireless: bool

    @property
    def label(self) -> str:
        """In a few words."""
        wireless = ", Wi-Fi" if self.wireless else ""
        return (
            f"{self.network} ({self.client.interface} of the client, {self.server.interface} of the server{wireless})"
        )


def findings(share: ShareConfig, client: Machine, server: Machine) -> Iterator[Finding]:
    """Which network the data addresses are on, and which others both hosts are on. Raises LabFailure and ValueError."""
    networks = sorted(find_common(client, server), key=lambda network: network.wireless)
    addresses = (client.config.data_address, server.config.data_address)
    measured = next((one for one in networks if (one.client.address, one.server.address) == addresses), None)
    others = [network for network in networks if network is not measured]
    yield from map(_propose, _better(measured, others))
    if measured:
        also = f", and on {_labels(others)}" if others else ""
        yield Finding("ok", SUBJECT, f"both hosts are on {measured.label}{also}")
        yield from _check_protocols(share, client, server, others)


def find_common(client: Machine, server: Machine) -> Iterator[CommonNetwork]:
    """The networks with an address of each host. That two have the same numbers does not prove that they are one."""
    server_addresses = list(_addresses(server))
    for name, address in _addresses(client):
        for peer_name, peer in server_addresses:
            if address.network == peer.network and address.ip != peer.ip:
                wireless = _is_wireless(client, name) or _is_wireless(server, peer_name)
                yield CommonNetwork(
                    str(address.network), End(name, str(address.ip)), End(peer_name, str(peer.ip)), wireless
                )


def _addresses(machine: Machine) -> Iterator[tuple[str, IPv4Interface]]:
    """The interfaces of a host, each with every address that a link to the other host may have."""
    network = machine.platform.network
    for name, addresses in network.networks().items():
        if name.startswith(network.tunnels):
            continue
        for address in addresses:
            # An interface that nobody gives an address takes one of 169.254 (RFC 3927), whatever it is connected to.
            if not address.is_loopback and not address.is_link_local:
                yield name, address


def _is_wireless(machine: Machine, interface: str) -> bool:
    return machine.platform.network.medium(interface).wireless is True


def _better(measured: CommonNetwork | None, others: list[CommonNetwork]) -> list[CommonNetwork]:
    """Those worth a proposal: all where the data addresses are on none, and each cable where they are on Wi-Fi."""
    if measured is None:
        return others
    return [network for network in others if measured.wireless and not network.wireless]


def _propose(network: CommonNetwork) -> Finding:
    addresses = f"data_address = {network.client.address} in [client] and {network.server.address} in [server]"
    return Finding("note", SUBJECT, f"both hosts are on {network.label}", f"{addresses} would measure it")


def _check_protocols(
    share: ShareConfig, client: Machine, server: Machine, others: list[CommonNetwork]
) -> Iterator[Finding]:
    """A warning for each protocol that would send over the other networks, too."""
    for name, protocol in sorted(protocols.by_name().items()) if others else ():
        if _takes_every_network(protocol, share, client, server):
            message = f"this client sends over {_labels(others)}, too, where the server takes it: such trials are void"
            yield Finding("warning", name, message, f"give {name}.multichannel = [false] in the sweep")


def _takes_every_network(protocol: Protocol, share: ShareConfig, client: Machine, server: Machine) -> bool:
    try:
        client_driver, server_driver = (protocol.driver(machine.platform.name) for machine in (client, server))
    except Absent:  # a platform without this protocol
        return False
    # A server of the lab's own listens on the data address alone.
    if share.serve == "lab" and server_driver.own_server:
        return False
    return client_driver.takes_every_network(client.side)


def _labels(networks: list[CommonNetwork]) -> str:
    return " and ".join(network.label for network in networks)
