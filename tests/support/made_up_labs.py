"""Local labs that never ran, as their state files describe them."""

from typing import Any

from lab.local.state import Lab, Process

LINUX = {"client": "linux", "server": "linux"}
PROCESS = Process(1, 2)


def lab_of(process: Process = PROCESS, **changes: Any) -> Lab:
    """The lab ``mine`` with two Linux hosts; each of its processes is ``process``."""
    facts: dict[str, Any] = {
        "name": "mine", "instance": "0123", "supervisor": process, "cleaner": process,
        "hosts": {"client": process, "server": process}, "rate": "1gbit", "delay": "none",
        "hosts_file": "/x/hosts.ini", "platforms": LINUX, "backend": "namespaces", "why": "", "ssh_address": "::1",
    }  # fmt: skip
    return Lab(**facts | changes)
