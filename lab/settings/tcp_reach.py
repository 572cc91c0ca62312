"""Whether a system's TCP buffers apply to a protocol's sockets, or these set sizes of their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from lab.hosts.assumptions import Version


@dataclass(frozen=True)
class Reach:
    """Whether ``tcp_space`` applies to a protocol's sockets (None: unknown), or ``instead`` sets their size."""

    reaches: bool | None
    why: str
    instead: str = ""


SYSTEM = Reach(True, "its sockets take the sizes of the system")
CLOSED = Reach(None, "its source is closed")
# By the first version of a system to which it applies
ReachByVersion: TypeAlias = Mapping[Version, Reach]
