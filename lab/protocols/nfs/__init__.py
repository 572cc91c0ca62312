"""NFS: its driver for each platform, and the options of its mounts and servers."""

from lab.protocols.driver import Protocol
from lab.protocols.nfs.knfsd import PORT
from lab.protocols.nfs.linux import COMMIT, LinuxNfs
from lab.protocols.nfs.macos import MacNfs
from lab.protocols.nfs.options import MACOS_OPTIONS, OPTIONS

PROTOCOL = Protocol(
    "nfs", PORT, mounted=True, drivers={"linux": LinuxNfs, "macos": MacNfs}, server_syncs=tuple(COMMIT),
    options=OPTIONS | MACOS_OPTIONS, takes_password=False,
    least_file_bytes=28,  # the mark and the header of one reply; a call has more (RFC 5531, 11 and 9)
)  # fmt: skip
