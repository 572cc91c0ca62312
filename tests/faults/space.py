"""Full disks: fills the memory file systems of hosts, and the controller's folder."""

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from .observe import running_lab

DEADLINE_S = 10.0
FILLER = "filler"
Places = dict[tuple[int, str], int]


def places(name: str, host: str) -> Places:
    """Size in bytes of each memory file system of a host, by (a process that sees it, path)."""
    lab = running_lab(name)
    mounts = [(lab.hosts[host].pid, path) for path in _memory(lab.hosts[host].pid) if not path.startswith("/dev")]
    mounts += [(lab.supervisor.pid, path) for path in _memory(lab.supervisor.pid) if f"/{name}/{host}/" in path]
    return {(pid, path): _status(pid, path).f_blocks * _status(pid, path).f_frsize for pid, path in mounts}


def _memory(pid: int) -> list[str]:
    rows = [line.split() for line in Path(f"/proc/{pid}/mounts").read_text().splitlines()]
    return [row[1] for row in rows if row[2] == "tmpfs"]


def _status(pid: int, path: str) -> os.statvfs_result:
    return os.statvfs(f"/proc/{pid}/root{path}")


def fill_host(name: str, host: str) -> None:
    for pid, path in places(name, host):
        # an empty one cannot shrink: size 0 means no limit
        _filler(pid, path).write_bytes(b"full")
        deadline = time.monotonic() + DEADLINE_S
        while (status := _status(pid, path)).f_bfree > 0:
            # the kernel refuses if something was written meanwhile
            _resize(pid, path, (status.f_blocks - status.f_bfree) * status.f_frsize)
            assert time.monotonic() < deadline, f"{path} of {host} cannot be filled"


def lift(before: Places) -> None:
    for (pid, path), size in before.items():
        if Path(f"/proc/{pid}").exists():  # after a reboot there are others
            assert _resize(pid, path, size), f"{path} does not take its size back"
            _filler(pid, path).unlink(missing_ok=True)


def _filler(pid: int, path: str) -> Path:
    return Path(f"/proc/{pid}/root{path}/{FILLER}")


def _resize(pid: int, path: str, size: int) -> bool:
    # -n, because /run may be full
    command = ["nsenter", "--target", str(pid), "--mount", "--", "mount", "-n", "-o", f"remount,size={size}", path]
    return subprocess.run(command, capture_output=True).returncode == 0


def fill_controller() -> None:
    with Path(FILLER).open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
