"""The version of macOS, and what its kernel makes of the sizes of TCP buffers; by version, for these have changed."""

from __future__ import annotations

import re

from lab.hosts.assumption import Version
from lab.settings.tcp_reach import Reach, ReachByVersion, reach_at

UNSCALED = (14, 0)  # from here on a buffer may be as large as the limit of the kernel


def tcp_reach(system: str, reach_by_version: ReachByVersion) -> Reach:
    """What a driver says for the version of ``system``, such as ``macOS 14.4 (23E214)``."""
    version = parse_version(system)
    if version is None:
        return Reach(None, f"its version cannot be read from {system!r}")
    return reach_at(version, reach_by_version) or Reach(None, "nothing is known about its sockets on this version")


def largest(system: str, limit: int) -> int:
    """The largest size in bytes that sendspace and recvspace take where kern.ipc.maxsockbuf is ``limit``.

    xnu (uipc_socket2.c, tcp_usrreq.c) keeps room for the bookkeeping of each 2 KiB, up to macOS 13.
    """
    version = parse_version(system)
    return limit if version and version >= UNSCALED else limit // 2304 * 2048


def parse_version(system: str) -> Version | None:
    """Major and minor version, of the name of a system."""
    match = re.search(r"\b([0-9]{1,4})\.([0-9]{1,4})", system)
    return (int(match[1]), int(match[2])) if match else None
