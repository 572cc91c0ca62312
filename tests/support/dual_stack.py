"""Local labs whose data link has addresses of both families."""

from collections.abc import Mapping
from pathlib import Path

from support.local_lab import Bench

ADDRESSES = {"client": "fd00:77::1", "server": "fd00:77::2"}
ADD = "$(command -v ip || echo /linux/usr/sbin/ip) address add {address}/64 dev eth0 nodad"  # the latter on a Mac


def add_addresses(bench: Bench) -> None:
    for host, address in ADDRESSES.items():
        bench.inside(host, ADD.format(address=address))


def hosts_at(bench: Bench, addresses: Mapping[str, str]) -> Path:
    """The hosts file with other data addresses."""
    return bench.changed_hosts(**{f"{host}_data_address": address for host, address in addresses.items()})
