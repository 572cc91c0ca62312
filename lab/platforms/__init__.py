"""What an operating system knows how to do. One file a platform; an unknown one is an error, never a guess."""

from __future__ import annotations

import sys

from lab.base.errors import Unsupported
from lab.base.plugins import members
from lab.hosts import Host
from lab.platforms.facts import Facts
from lab.platforms.platform import Platform
from lab.platforms.readings import ALL_CORES, Connection, Reading, Ticks
from lab.platforms.timing import Counters, Timing

__all__ = ["ALL_CORES", "Connection", "Counters", "Facts", "Platform", "Reading", "Ticks", "Timing", "detect"]


def detect(host: Host) -> Platform:
    """The platform of a host, by what ``uname -s`` prints there. Raises Unsupported for one that is not known."""
    kernel = host.run("uname", "-s").stdout.strip()
    platforms = members(sys.modules[__name__], "PLATFORM").values()
    for platform in platforms:
        if platform.uname == kernel:
            detected: Platform = platform(host)
            return detected
    names = ", ".join(sorted(platform.name for platform in platforms))
    raise Unsupported(f"{host.role}: uname says {kernel!r}; the lab knows {names} and does not guess")
