"""AFP: its driver for each platform."""

from lab.protocols.afp.linux import PORT, LinuxAfp
from lab.protocols.afp.macos import MacAfp
from lab.protocols.driver import Protocol

PROTOCOL = Protocol(
    "afp", PORT, mounted=True, drivers={"linux": LinuxAfp, "macos": MacAfp}, server_syncs=("default", "async", "sync"),
    least_file_bytes=16,  # the DSI header of FPOpenFork, or of its reply (Apple Filing Protocol Reference, DSI)
)  # fmt: skip
