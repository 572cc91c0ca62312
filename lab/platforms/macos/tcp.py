"""Which sockets on a Mac take the TCP buffers of the system, and which set sizes of their own, by version and role.

From the sources of SMBClient (smb_trantcp.c), of the NFS client and server (xnu bsd/nfs, later the NFS kext:
nfs_socket.c) and of OpenSSH; docs/reference/platforms.md has the table. What is closed or unpublished is unknown here.
"""

from __future__ import annotations

import re

from lab.platforms.findings import Reach

Version = tuple[int, int]
SYSTEM = Reach(True, "its sockets take the sizes of the system")
CLOSED = Reach(None, "its source is closed")
UNSCALED = (14, 0)  # from here on a buffer may be as large as the limit of the kernel
SMB_SIZES = "net.smb.fs.tcpsndbuf and net.smb.fs.tcprcvbuf"
LIMIT = "kern.ipc.maxsockbuf, which can be lowered until the next restart,"
NFS_SIZE = "vfs.generic.nfs.client.tcp_sockbuf"
# Each row holds from its version on, until the next row of the same protocol and role
TABLE: tuple[tuple[str, str, Version, Reach], ...] = (
    ("ssh", "client", (10, 6), SYSTEM),
    ("ssh", "server", (10, 6), SYSTEM),
    ("smb", "client", (10, 6), Reach(False, "its sockets get 128 KiB of their own", SMB_SIZES)),
    ("smb", "client", (10, 7), Reach(False, "its sockets get 255 KiB of their own")),
    ("smb", "client", (10, 9), Reach(False, "it asks for 4 MiB, and for less where it does not get them", LIMIT)),
    ("smb", "client", (10, 11), Reach(None, "its source is not published for this version")),
    ("smb", "client", (11, 0), Reach(False, "it asks for 8 MiB, and for less where it does not get them", LIMIT)),
    ("smb", "client", (15, 0), SYSTEM),
    ("smb", "server", (10, 6), CLOSED),
    ("nfs", "client", (10, 6), SYSTEM),
    ("nfs", "client", (10, 15), Reach(False, "its sockets get 2 MiB of their own")),
    (
        "nfs",
        "client",
        (11, 0),
        Reach(False, "its sockets get a size of their own, or twice that of a transfer", NFS_SIZE),
    ),
    ("nfs", "server", (10, 6), SYSTEM),
    ("nfs", "server", (10, 15), Reach(False, "its sockets get 2 MiB of their own")),
    ("nfs", "server", (11, 0), Reach(False, "its sockets get twice the largest transfer", LIMIT)),
    ("nfs", "server", (15, 0), Reach(False, "its sockets get 2 MiB of their own")),
    ("afp", "client", (10, 6), CLOSED),
    ("afp", "server", (10, 6), CLOSED),
)


def tcp_reach(system: str, protocol: str, role: str) -> Reach:
    """Whether TCP buffers reach the sockets of a protocol on ``system``, such as ``macOS 14.4 (23E214)``."""
    version = parse_version(system)
    if version is None:
        return Reach(None, f"its version cannot be read from {system!r}")
    rows = [reach for name, side, since, reach in TABLE if (name, side) == (protocol, role) and since <= version]
    return rows[-1] if rows else Reach(None, f"nothing is known about {protocol} on this version")


def largest(system: str, limit: int) -> int:
    """The largest size in bytes that sendspace and recvspace take where kern.ipc.maxsockbuf is ``limit``.

    xnu (uipc_socket2.c, tcp_usrreq.c) keeps room for the bookkeeping of each 2 KiB, up to macOS 13.
    """
    version = parse_version(system)
    return limit if version and version >= UNSCALED else limit // 2304 * 2048


def parse_version(system: str) -> Version | None:
    """Major and minor version, of the name of a system."""
    match = re.search(r"\b(\d+)\.(\d+)", system)
    return (int(match[1]), int(match[2])) if match else None
