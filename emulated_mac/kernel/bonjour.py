"""Tell other hosts about the services of a Mac, like mDNSResponder.

Emulated Macs ask each other by broadcasts that nothing else understands.
"""

import os
import socket
import threading
from pathlib import Path

from ..bonjour import PORT, QUESTION, Service
from .system_calls import Kernel, at_boot

# What launchd and the file servers make known, by the port (ssh.plist; smbd, AppleFileServer: their own)
TYPES = {22: ("_sftp-ssh._tcp", "_ssh._tcp"), 445: ("_smb._tcp",), 548: ("_afpovertcp._tcp",)}
LISTENING = "0A"  # the state of a socket in Linux's /proc/net/tcp


@at_boot
def answer_others(kernel: Kernel) -> None:
    """Answer until the host goes down."""
    asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    asked.bind(("", PORT))
    threading.Thread(target=_answer, args=(asked,), daemon=True).start()


def _answer(asked: socket.socket) -> None:
    while True:
        question, asker = asked.recvfrom(64)
        if question == QUESTION:
            services = "".join(service.line for service in _services())
            asked.sendto(services.encode(), asker)


def _services() -> list[Service]:
    name, ports = os.uname().nodename.partition(".")[0], _listening()
    return [Service(name, kind, f"{name}.local", port) for port in TYPES if port in ports for kind in TYPES[port]]


def _listening() -> set[int]:
    rows = [row.split() for file in ("tcp", "tcp6") for row in Path("/linux/proc/net", file).read_text().splitlines()]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENING}
