"""Whether the TCP buffers that a system is given reach the sockets of a protocol, or those have sizes of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from lab.hosts.assumption import Version


@dataclass(frozen=True)
class Reach:
    """Whether a sweep's ``tcp_space`` reaches the sockets of a protocol on one host; None where that is not known.

    ``instead`` names what sizes those sockets where it does not.
    """

    reaches: bool | None
    why: str
    instead: str = ""


SYSTEM = Reach(True, "its sockets take the sizes of the system")
CLOSED = Reach(None, "its source is closed")
# By the version of a system that it holds from, on to the next in the mapping
ReachByVersion: TypeAlias = Mapping[Version, Reach]


def reach_at(version: Version, reach_by_version: ReachByVersion) -> Reach | None:
    """What holds for this version of a system; None for one before the first of them."""
    begun = [since for since in reach_by_version if since <= version]
    return reach_by_version[max(begun)] if begun else None
