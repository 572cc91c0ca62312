"""The role of a host in a run, and its name in messages, journals and the hosts file."""

from __future__ import annotations

import re
from enum import StrEnum

MOST_CLIENTS = 16  # tested up to this number: docs/how-to/measure-many-clients.md
_FURTHER = re.compile(r"client\.([2-9]|1[0-6])")


class Role(StrEnum):
    """The role of a host: the client moves files to and from the server's share."""

    CLIENT = "client"
    SERVER = "server"

    @property
    def peer(self) -> Role:
        return Role.SERVER if self is Role.CLIENT else Role.CLIENT


ROLES = (Role.CLIENT, Role.SERVER)


def client_name(number: int) -> str:
    """The name of a client, from 1: ``client``, ``client.2``, ``client.3``."""
    return Role.CLIENT.value if number == 1 else f"{Role.CLIENT}.{number}"


def is_further_client(name: str) -> bool:
    """Whether this is the name of a client beyond the first."""
    return _FURTHER.fullmatch(name) is not None


def role_of(name: str) -> Role:
    """The role of the host of this name. Raises ValueError for any other name."""
    return Role.CLIENT if is_further_client(name) else Role(name)
