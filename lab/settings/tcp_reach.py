"""Whether a system's TCP buffers apply to a protocol's sockets, or these set sizes of their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from lab.hosts.assumption import Version


@dataclass(frozen=True)
class Reach:
    """Whether a sweep's ``tcp_space`` applies to a protocol's sockets on one host; None if unknown.

    ``instead`` names what sets their size otherwise.
    """

    reaches: bool | None
    why: str
    instead: str = ""


SYSTEM = Reach(True, "its sockets take the sizes of the system")
CLOSED = Reach(None, "its source is closed")
# By the first version of a system to which it applies
ReachByVersion: TypeAlias = Mapping[Version, Reach]


def reach_at(version: Version, reach_by_version: ReachByVersion) -> Reach | None:
    """The entry for this version of a system; None if it is older than all entries."""
    begun = [since for since in reach_by_version if since <= version]
    return reach_by_version[max(begun)] if begun else None
