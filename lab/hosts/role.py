"""The part that a host plays in a run."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """The part that a host plays: the client moves files to and from the server's share."""

    CLIENT = "client"
    SERVER = "server"

    @property
    def peer(self) -> Role:
        """The other role."""
        return Role.SERVER if self is Role.CLIENT else Role.CLIENT


ROLES = (Role.CLIENT, Role.SERVER)
