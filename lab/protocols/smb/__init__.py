"""SMB: its driver for each platform, and the options of its mounts and servers."""

from lab.protocols.driver import Protocol
from lab.protocols.smb.ksmbd import PORT
from lab.protocols.smb.linux import SYNC, LinuxSmb
from lab.protocols.smb.macos import MacSmb
from lab.protocols.smb.options import OPTIONS

# A CREATE opens every file: its header of 64 bytes and its own 56 (MS-SMB2 2.2.1.2, 2.2.13); the response has 88
PROTOCOL = Protocol(
    "smb", PORT, mounted=True, drivers={"linux": LinuxSmb, "macos": MacSmb}, server_syncs=tuple(SYNC), options=OPTIONS,
    least_file_bytes=120,
)  # fmt: skip
