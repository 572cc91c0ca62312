"""What is left of a local lab on this machine."""

import time
from pathlib import Path

from lab.local import cleanup, state
from lab.local.names import ALL_HOSTS


def traces(name: str) -> list[str]:
    """Whatever on this machine belongs to a lab of this name."""
    found = [str(path) for path in (state.directory(name),) if path.exists()]
    found += [
        str(group)
        for host in (*ALL_HOSTS, cleanup.LINK)
        if (group := cleanup.control_group(name, host)) and group.exists()
    ]
    found += [str(disk) for host in ALL_HOSTS if (disk := cleanup.disk_directory(name, host)).exists()]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f"/{name}/" in command or f" {name} " in command:
            found.append(command)
    mounts = Path("/proc/self/mounts").read_text()
    return found + [line for line in mounts.splitlines() if f"/{name}/" in line]


def gone(name: str, seconds: float = 30) -> list[str]:
    """What is left once nothing is, or once the time is over."""
    deadline = time.monotonic() + seconds
    while (left := traces(name)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left
