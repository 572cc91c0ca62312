"""What is found without a question: this machine, its links and mounts, other hosts, and their addresses."""

import grp
import itertools
import os
import pwd
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address, ip_interface
from typing import TypeVar

from lab import platforms
from lab.base.addresses import Interface, own_address_towards, with_zone
from lab.base.errors import LabError
from lab.base.untrusted import one_line
from lab.hosts.fields import host_name
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
from lab.hosts.ssh_target import named_hosts, ssh_config
from lab.init import services, shares
from lab.init.services import Machine
from lab.init.shares import Share
from lab.platforms.mounts import MountedShare

ADMINISTRATORS = {"admin", "sudo", "wheel"}  # groups that sudo allows by default: of macOS, Debian, and Fedora or Arch
SERVED = ("smb", "nfs", "afp")
SERVICE = re.compile(r"(.+)\._[a-z]+\._tcp\.local\.?")  # as Finder names a server that it knows by DNS-SD
SERVICE_PORTS = {"SMB": 445, "AFP": 548, "NFS": 2049, "SSH": 22}
CONNECT_S = 1.0  # on one link a server answers within milliseconds
T = TypeVar("T")


@dataclass(frozen=True)
class OwnAddress:
    """An address of this machine, with its network and interface."""

    interface: str
    address: Interface

    @property
    def label(self) -> str:
        """Interface and address, for a list."""
        return f"{self.interface} {self.address.ip}"


@dataclass(frozen=True)
class Mounted:
    """A share that this machine has mounted: its folder, its label, and name and address of its server."""

    path: str
    protocol: str
    label: str
    server: str
    address: str


def list_own_addresses() -> list[OwnAddress]:
    """The addresses of this machine that others may reach, IPv4 before IPv6."""
    import ifaddr

    addresses = [
        OwnAddress(
            adapter.name, ip_interface(f"{address.ip if address.is_IPv4 else address.ip[0]}/{address.network_prefix}")
        )
        for adapter in ifaddr.get_adapters()
        for address in adapter.ips
    ]
    reachable = [own for own in addresses if not own.address.is_loopback]
    return sorted(reachable, key=lambda own: own.address.version)


def find_own_address(peer: str) -> str | None:
    """The address from which this machine would send to ``peer``; None if no route leads there."""
    try:
        return own_address_towards(peer)
    except OSError:
        return None


def find_address(name: str) -> str | None:
    """An address of a host, IPv4 if possible; None if this machine finds none."""
    try:
        answers = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return None
    places = sorted(answers, key=lambda answer: answer[0] != socket.AF_INET)
    return with_zone(places[0][4]) if places else None


def find_services(address: str) -> frozenset[str]:
    """The services of SERVICE_PORTS that answer at an address."""

    def answers(name: str) -> bool:
        with suppress(OSError):
            socket.create_connection((address, SERVICE_PORTS[name]), CONNECT_S).close()
            return True
        return False

    with ThreadPoolExecutor(len(SERVICE_PORTS)) as pool:
        return frozenset(itertools.compress(SERVICE_PORTS, pool.map(answers, SERVICE_PORTS)))


@dataclass(frozen=True)
class Surroundings:
    """What was found, and the functions that look up a name, an address or the shares of a server."""

    account: str
    is_administrator: bool
    own_addresses: list[OwnAddress]
    machines: list[Machine]
    ssh_hosts: list[str]
    mounts: list[Mounted]
    resolve: Callable[[str], str | None] = find_address
    address_towards: Callable[[str], str | None] = find_own_address
    open_services: Callable[[str], frozenset[str]] = find_services
    list_shares: Callable[[str, frozenset[str]], list[Share]] = shares.list_shares
    ssh_options: Callable[[str], dict[str, str]] = lambda host: ssh_config(host)[0]

    def is_among(self, addresses: Iterable[str]) -> bool:
        """Whether one of the addresses belongs to this machine."""
        return any(map(self.interface_of, addresses))

    def interface_of(self, address: str) -> str:
        """The interface with this address, or an empty string."""
        bare, _, zone = address.partition("%")
        return zone or next((own.interface for own in self.own_addresses if str(own.address.ip) == bare), "")

    def interface_to(self, address: str) -> str:
        """The interface on the network of an address, or an empty string."""
        bare, _, zone = address.partition("%")
        networks = ((own.interface, own.address.network) for own in self.own_addresses)
        return zone or next((interface for interface, network in networks if ip_address(bare) in network), "")


def look_around(tell: Callable[[str], None]) -> Surroundings:
    """Look for a few seconds. What cannot be found out is told and left out; it can be typed."""
    tell(f"looking for file servers on the links of this machine, for {services.BROWSE_S:g} s")
    machines = _or_nothing(services.browse, tell)
    try:
        account = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # an account without a name
        account = "guest"
    return Surroundings(
        account=account, is_administrator=_is_administrator(), own_addresses=list_own_addresses(), machines=machines,
        ssh_hosts=_or_nothing(named_hosts, tell),
        mounts=_or_nothing(partial(own_mounts, machines, find_address), tell),
    )  # fmt: skip


def _or_nothing(find: Callable[[], list[T]], tell: Callable[[str], None]) -> list[T]:
    try:
        return find()
    except LabError as error:
        tell(str(error))
        return []


def _is_administrator() -> bool:
    """Whether the groups of this account let it use sudo."""
    names = set()
    for number in os.getgroups():
        with suppress(KeyError):  # a group without a name
            names.add(grp.getgrgid(number).gr_name)
    return bool(names & ADMINISTRATORS)


def own_mounts(machines: Sequence[Machine], resolve: Callable[[str], str | None]) -> list[Mounted]:
    """The mounted shares whose server has an address. Raises LabError."""
    with closing(SshHost("client", HostConfig(transport="local", sudo="none", data_address="127.0.0.1"))) as host:
        return list(read_table(platforms.detect(host).mounts.table(), machines, resolve))


def read_table(
    table: Iterable[MountedShare], machines: Sequence[Machine], resolve: Callable[[str], str | None]
) -> Iterator[Mounted]:
    """The mounted shares in a table of mounts; ``machines`` advertise themselves, ``resolve`` finds addresses."""
    by_name = {machine.name: machine for machine in machines}
    for row in table:
        if row.protocol not in SERVED or not row.server:
            continue
        service = SERVICE.fullmatch(row.server)
        machine = by_name.get(service[1]) if service else None
        server = machine.host if machine else row.server
        address = machine.addresses[0] if machine else resolve(row.address)
        with suppress(ValueError):
            if address:
                label = one_line(f"{row.share} ({row.protocol.upper()})", 80)
                yield Mounted(row.path, row.protocol, label, host_name(server), address)
