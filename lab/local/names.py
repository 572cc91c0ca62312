"""The names that the command line offers. This module imports little, because every command imports it."""

from collections.abc import Sequence

from lab.base.errors import BadInput

HOSTS = ("client", "server")  # of every local lab
MOST_CLIENTS = 16


def hosts_of(clients: int) -> tuple[str, ...]:
    """The hosts of a local lab: client, server, client.2, client.3, …"""
    return (*HOSTS, *(f"client.{number}" for number in range(2, clients + 1)))


ALL_HOSTS = hosts_of(MOST_CLIENTS)
GUEST_BACKENDS = ("kvm", "uml", "tcg")  # the best first


def split_word(option: str, word: str, hosts: Sequence[str]) -> tuple[str, str]:
    """Host (empty for all) and value of ``[HOST=]VALUE``. Raises BadInput for an unknown host."""
    host, _, value = word.rpartition("=")
    if host and host not in hosts:
        raise BadInput(f"{option} {word}: {host} is not a host of the local lab", f"name {' or '.join(hosts)}")
    return host, value
