"""AFP, SMB, NFS and SSH. One file a protocol, its drivers inside; a new one is a new file here."""

from __future__ import annotations

import sys

from lab.base import plugins
from lab.protocols.driver import Attached, Driver, Protocol, Share, Side, durability, options_in_effect

__all__ = ["Attached", "Driver", "Protocol", "Share", "Side", "durability", "find", "options_in_effect"]


def find(name: str) -> Protocol:
    """The protocol of this name. Raises BadInput."""
    found: Protocol = plugins.find(sys.modules[__name__], "PROTOCOL", "protocol", name)
    return found
