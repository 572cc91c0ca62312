"""What can be found out without asking anybody: about this machine, its links, and the hosts of ~/.ssh/config."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import TypeVar

from lab.base.errors import LabError
from lab.hosts.ssh_target import named_hosts, ssh_config
from lab.init import addresses, services, shares
from lab.init.addresses import OwnAddress
from lab.init.mounted import Mounted, own_mounts
from lab.init.services import Machine
from lab.init.shares import Share

ADMINISTRATORS = {"admin", "sudo", "wheel"}  # groups that sudo allows by default: of macOS, Debian, and Fedora or Arch
T = TypeVar("T")


@dataclass(frozen=True)
class Surroundings:
    """What was found, and who else can be asked: about a name, an address, the shares of a server."""

    account: str
    is_administrator: bool
    own_addresses: list[OwnAddress]
    machines: list[Machine]
    ssh_hosts: list[str]
    mounts: list[Mounted]
    resolve: Callable[[str], str | None] = addresses.resolve
    address_towards: Callable[[str], str | None] = addresses.address_towards
    open_services: Callable[[str], frozenset[str]] = addresses.open_services
    list_shares: Callable[[str, frozenset[str]], list[Share]] = shares.list_shares
    ssh_options: Callable[[str], dict[str, str]] = lambda host: ssh_config(host)[0]

    def is_among(self, addresses: Iterable[str]) -> bool:
        """Whether one of these addresses is this machine's."""
        return any(map(self.interface_of, addresses))

    def interface_of(self, address: str) -> str:
        """The interface that has an address; empty where none has."""
        return next((own.interface for own in self.own_addresses if str(own.address.ip) == address), "")

    def interface_to(self, address: str) -> str:
        """The interface that is on the network of another address; empty where none is."""
        networks = ((own.interface, own.address.network) for own in self.own_addresses)
        return next((interface for interface, network in networks if ip_address(address) in network), "")


def look_around(tell: Callable[[str], None]) -> Surroundings:
    """Look for a few seconds. What cannot be found out is told, and left out: it can be typed."""
    tell(f"looking for file servers on the links of this machine, for {services.BROWSE_S:g} s")
    machines = _or_nothing(services.browse, tell)
    return Surroundings(
        account=_own_account(),
        is_administrator=_is_administrator(),
        own_addresses=addresses.own_addresses(),
        machines=machines,
        ssh_hosts=_or_nothing(named_hosts, tell),
        mounts=_or_nothing(partial(own_mounts, machines, addresses.resolve), tell),
    )


def _or_nothing(find: Callable[[], list[T]], tell: Callable[[str], None]) -> list[T]:
    try:
        return find()
    except LabError as error:
        tell(str(error))
        return []


def _own_account() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # an account without a name
        return "guest"


def _is_administrator() -> bool:
    """Whether sudo allows this account, as far as its groups tell."""
    names = set()
    for number in os.getgroups():
        try:
            names.add(grp.getgrgid(number).gr_name)
        except KeyError:  # a group without a name
            continue
    return bool(names & ADMINISTRATORS)
