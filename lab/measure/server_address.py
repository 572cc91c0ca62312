"""Where a server is, as seen from this machine: its address, and what is wrong with the way there."""

import re
import socket

from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import one_line
from lab.hosts.fields import is_loopback
from lab.platforms import Facts, Platform
from lab.results.one_sided import ClientLink

# As Finder names a server: the name of its service, which is mostly the name of the host with spaces
SERVICE = re.compile(r"(.+)\._[a-z]+\._tcp\.local\.?")


def find_address(server: str) -> str:
    """The address of a server, which may be one already. Raises BadInput for a name that leads nowhere."""
    service = SERVICE.fullmatch(server)
    name = f"{service[1].replace(' ', '-')}.local" if service else server
    try:
        entries = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        return str(entries[0][4][0])
    except (OSError, UnicodeError) as error:
        message = f"the server {one_line(server, 80)} is not to be found: {one_line(reason_of(error), 80)}"
        raise BadInput(message, "is its name right, and this machine on its network? Its address may do") from error


def check_elsewhere(platform: Platform, server: str, address: str) -> None:
    """Raise BadInput where a server is this very machine. Raises LabFailure."""
    own = {own.partition("%")[0].lower() for names in platform.network.addresses().values() for own in names}
    if is_loopback(address) or address.partition("%")[0].lower() in own:
        message = f"the server {one_line(server, 80)} is this machine itself ({address}): nothing would cross a link"
        raise BadInput(message, "measure it from another machine")


def check_offered(platform: Platform, server: str, address: str, protocol: str, port: int) -> None:
    """Raise BadInput where a server takes no connections for a protocol: a mount would fail after a minute only."""
    if not platform.network.answers(address, port):
        name = protocol.upper()
        message = f"the server {one_line(server, 80)} ({address}) does not answer at port {port}, that of {name}"
        raise BadInput(message, f"is it on, and on this network, and does it offer {name}?")


def read_link(platform: Platform, facts: Facts) -> ClientLink:
    """This machine's end of the link: the interface of its facts. Raises LabFailure."""
    network, interface = platform.network, facts.interface
    medium = network.medium(interface)
    speed = None if medium.virtual else facts.link_bits_per_s
    speed = speed or (network.radio(interface).bits_per_s if medium.wireless else None)
    return ClientLink(
        interface=interface,
        bits_per_s=speed,
        duplex=medium.duplex,
        medium=None if medium.wireless is None else "wireless" if medium.wireless else "wired",
        mtu=facts.mtu,
        tunnel=network.is_tunnel(interface),
    )


def tunnel_remark(link: ClientLink) -> str:
    """What a VPN on the way means for every figure; empty where there is none."""
    if not link.tunnel:
        return ""
    return f"the way to the server is a tunnel, such as a VPN ({link.interface}): its encryption is measured with it"
