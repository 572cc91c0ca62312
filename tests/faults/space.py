"""Full disks: memory file systems of a host shrunk to what they hold, and a folder of the controller's filled up."""

import os
import subprocess
import time
from pathlib import Path

from lab.local import state

CONTROLLER_BYTES = 8 * 2**20
DEADLINE_S = 10.0
FILLER = "filler"
Places = dict[tuple[int, str], int]


def places(name: str, host: str) -> Places:
    """The size in bytes of all memory file systems of a host, its disk among them: (process that sees it, path)."""
    lab = state.load(name)
    assert lab is not None
    found = [(lab.hosts[host].pid, path) for path in _memory(lab.hosts[host].pid) if not path.startswith("/dev")]
    found += [(lab.supervisor.pid, path) for path in _memory(lab.supervisor.pid) if f"/{name}/{host}/" in path]
    return {(pid, path): _status(pid, path).f_blocks * _status(pid, path).f_frsize for pid, path in found}


def _memory(pid: int) -> list[str]:
    rows = [line.split() for line in Path(f"/proc/{pid}/mounts").read_text().splitlines()]
    return [row[1] for row in rows if row[2] == "tmpfs"]


def _status(pid: int, path: str) -> os.statvfs_result:
    return os.statvfs(f"/proc/{pid}/root{path}")


def fill_host(name: str, host: str) -> None:
    """Leave no byte free on any file system of a host."""
    for pid, path in places(name, host):
        # one that holds nothing cannot shrink to that: no size means no limit
        _filler(pid, path).write_bytes(b"full")
        deadline = time.monotonic() + DEADLINE_S
        while (status := _status(pid, path)).f_bfree > 0:
            # it is refused where something was written meanwhile
            _resize(pid, path, (status.f_blocks - status.f_bfree) * status.f_frsize)
            assert time.monotonic() < deadline, f"{path} of {host} cannot be filled"


def lift(before: Places) -> None:
    """Give file systems their sizes back."""
    for (pid, path), size in before.items():
        if Path(f"/proc/{pid}").exists():  # a reboot made others
            assert _resize(pid, path, size), f"{path} does not take its size back"
            _filler(pid, path).unlink(missing_ok=True)


def _filler(pid: int, path: str) -> Path:
    return Path(f"/proc/{pid}/root{path}/{FILLER}")


def _resize(pid: int, path: str, size: int) -> bool:
    # -n, or it notes the mount under /run, which may be full
    command = ["nsenter", "--target", str(pid), "--mount", "--", "mount", "-n", "-o", f"remount,size={size}", path]
    return subprocess.run(command, capture_output=True).returncode == 0


def make_disk(folder: Path) -> None:
    """A small disk for all that a controller writes; gone with this process, which must have private mounts."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={CONTROLLER_BYTES}", "controller", str(folder)], check=True)


def remove_disk(folder: Path) -> None:
    """Take it away again."""
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill_controller() -> None:
    """Leave no byte free where the controller works."""
    with Path(FILLER).open("ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def lift_controller(folder: Path) -> None:
    """Make room again."""
    (folder / FILLER).unlink(missing_ok=True)
