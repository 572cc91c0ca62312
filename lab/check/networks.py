"""The networks that both hosts are on: which data addresses a run could take, and where SMB would send besides."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from lab import protocols
from lab.base.addresses import Interface
from lab.base.errors import Absent
from lab.check.finding import Finding
from lab.check.machine import Machine
from lab.hosts.hosts_file import ShareConfig
from lab.protocols import Protocol

SUBJECT = "link networks"


@dataclass(frozen=True)
class CommonNetwork:
    """A network of both hosts. Interfaces and addresses are the client's, then the server's.

    ``wireless``: at least one of the interfaces is Wi-Fi.
    """

    network: str
    interfaces: tuple[str, str]
    addresses: tuple[str, str]
    wireless: bool

    @property
    def label(self) -> str:
        """The network and its interfaces, in a few words."""
        client, server = self.interfaces
        return f"{self.network} ({client} of the client, {server} of the server{', Wi-Fi' if self.wireless else ''})"


def findings(share: ShareConfig, client: Machine, server: Machine) -> Iterator[Finding]:
    """The network of the data addresses, and the other common networks. Raises LabFailure and ValueError."""
    networks = sorted(_find_common(client, server), key=lambda network: network.wireless)
    data_addresses = (client.config.data_address, server.config.data_address)
    measured = next((network for network in networks if network.addresses == data_addresses), None)
    by_interfaces = {(network.network, network.interfaces): network for network in reversed(networks)}
    if measured:  # IPv6 gives an interface several addresses of one network
        by_interfaces.pop((measured.network, measured.interfaces))
    others = [network for network in networks if network in by_interfaces.values()]
    labels = " and ".join(network.label for network in others)
    for network in others:
        # if the data addresses are on Wi-Fi, a cable is better; if they are on no common network, any network is
        if measured is None or (measured.wireless and not network.wireless):
            addresses = "data_address = {} in [client] and {} in [server]".format(*network.addresses)
            yield Finding("note", SUBJECT, f"both hosts are on {network.label}", f"{addresses} would measure it")
    if measured:
        also = f", and on {labels}" if others else ""
        yield Finding("ok", SUBJECT, f"both hosts are on {measured.label}{also}")
        for name, protocol in sorted(protocols.by_name().items()) if others else ():
            if _takes_every_network(protocol, share, client, server):
                message = f"this client sends over {labels}, too, where the server takes it: such trials are void"
                yield Finding("warning", name, message, f"give {name}.multichannel = [false] in the sweep")


def _find_common(client: Machine, server: Machine) -> Iterator[CommonNetwork]:
    """The networks with an address of each host, of the data addresses' family.

    Equal numbers do not prove that two networks are one.
    """
    version = ip_address(client.config.data_address).version
    server_addresses = list(_addresses(server))
    for name, address in _addresses(client):
        for peer_name, peer in server_addresses:
            if version == address.version and address.network == peer.network and address.ip != peer.ip:
                ends = ((client, name), (server, peer_name))
                wireless = any(host.platform.network.medium(interface).wireless is True for host, interface in ends)
                yield CommonNetwork(str(address.network), (name, peer_name), (str(address.ip), str(peer.ip)), wireless)


def _addresses(machine: Machine) -> Iterator[tuple[str, Interface]]:
    """The interfaces of a host, each with every address that a link to the other host may have."""
    network = machine.platform.network
    for name, addresses in network.networks().items():
        for address in () if name.startswith(network.tunnels) else addresses:
            # an interface without an address takes one of 169.254 (RFC 3927), whatever it is connected to
            if not address.is_loopback and not address.is_link_local:
                yield name, address


def _takes_every_network(protocol: Protocol, share: ShareConfig, client: Machine, server: Machine) -> bool:
    """Whether the client would send over every common network."""
    try:
        client_driver, server_driver = (protocol.driver(machine.platform.name) for machine in (client, server))
    except Absent:  # a platform without this protocol
        return False
    # the lab's own server listens on the data address only
    is_own = share.serve == "lab" and server_driver.own_server
    return not is_own and client_driver.takes_every_network(client.side)
