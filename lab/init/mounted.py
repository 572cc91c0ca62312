"""The shares that this machine has mounted already, by its own table of mounts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from lab import platforms
from lab.base.untrusted import one_line
from lab.hosts.fields import host_name
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
from lab.init.services import Machine
from lab.platforms.mounts import MountedShare

SERVED = ("smb", "nfs", "afp")
SERVICE = re.compile(r"(.+)\._[a-z]+\._tcp\.local\.?")  # as Finder names a server that it knows by DNS-SD


@dataclass(frozen=True)
class Mounted:
    """One of them: where it is mounted, what it is called, and its server by name and address."""

    path: str
    protocol: str
    label: str
    server: str
    address: str


def own_mounts(machines: Sequence[Machine], resolve: Callable[[str], str | None]) -> list[Mounted]:
    """Those whose server has an address. Raises LabError."""
    with closing(SshHost("client", HostConfig(transport="local", sudo="none", data_address="127.0.0.1"))) as host:
        return list(read_table(platforms.detect(host).mounts.table(), machines, resolve))


def read_table(
    table: Iterable[MountedShare], machines: Sequence[Machine], resolve: Callable[[str], str | None]
) -> Iterator[Mounted]:
    """Those in a table of mounts; ``machines`` are those that advertise themselves, ``resolve`` knows addresses."""
    by_name = {machine.name: machine for machine in machines}
    for row in table:
        if row.protocol not in SERVED or not row.server:
            continue
        service = SERVICE.fullmatch(row.server)
        machine = by_name.get(service[1]) if service else None
        server = machine.host if machine else row.server
        address = machine.addresses[0] if machine else resolve(row.address)
        try:
            if address:
                name = one_line(f"{row.share} ({row.protocol.upper()})", 80)
                yield Mounted(row.path, row.protocol, name, host_name(server), address)
        except ValueError:
            continue
