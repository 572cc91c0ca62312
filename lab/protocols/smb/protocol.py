"""SMB: its driver for each platform, and what a sweep may say of it."""

from __future__ import annotations

from lab.protocols.driver import Protocol
from lab.protocols.smb.ksmbd import PORT
from lab.protocols.smb.linux import SYNC, LinuxSmb
from lab.protocols.smb.macos import MacSmb
from lab.protocols.smb.options import OPTIONS

DRIVERS = {"linux": LinuxSmb, "macos": MacSmb}
PROTOCOL = Protocol("smb", PORT, mounted=True, drivers=DRIVERS, server_syncs=tuple(SYNC), options=OPTIONS)
