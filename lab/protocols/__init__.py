"""AFP, SMB, NFS and SSH. One file or folder a protocol, its drivers inside; a new one is a new file here."""

import sys

from lab.base import plugins
from lab.protocols.driver import Attached, Driver, Protocol, Share, Side

__all__ = ["Attached", "Driver", "Protocol", "Share", "Side", "by_name", "find"]


def by_name() -> dict[str, Protocol]:
    """Every protocol."""
    return plugins.members(sys.modules[__name__], "PROTOCOL", Protocol)


def find(name: str) -> Protocol:
    """The protocol of this name. Raises BadInput."""
    return plugins.find(by_name(), "protocol", name)
