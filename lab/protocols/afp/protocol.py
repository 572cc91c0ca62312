"""AFP: its driver for each platform, and what a sweep may say of it."""

from __future__ import annotations

from lab.protocols.afp.linux import PORT, LinuxAfp
from lab.protocols.afp.macos import MacAfp
from lab.protocols.driver import Protocol

DRIVERS = {"linux": LinuxAfp, "macos": MacAfp}
PROTOCOL = Protocol(
    "afp",
    PORT,
    mounted=True,
    drivers=DRIVERS,
    server_syncs=("default", "async", "sync"),
    least_file_bytes=16,  # the DSI header of FPOpenFork, or of its reply (Apple Filing Protocol Reference, DSI)
)
