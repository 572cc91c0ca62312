"""AFP, SMB, NFS and SSH. One file a protocol, its dialects inside; a new one is a new file here."""

from __future__ import annotations

import sys

from lab.errors import BadInput
from lab.protocols.base import Attached, Dialect, Protocol, Share, Side
from lab.registry import members

__all__ = ["Attached", "Dialect", "Protocol", "Share", "Side", "find"]


def find(name: str) -> Protocol:
    """The protocol of this name. Raises BadInput."""
    known = members(sys.modules[__name__], "PROTOCOL")
    if name not in known:
        raise BadInput(f"unknown protocol {name!r}; known are {', '.join(sorted(known))}")
    found: Protocol = known[name]
    return found
