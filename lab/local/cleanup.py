"""Remove what is left when the hosts have ended: control groups, files under /run, the hosts file."""

import shutil
import time
from contextlib import suppress
from pathlib import Path

from lab.local import root_image, state
from lab.local.names import ALL_HOSTS

EMPTY_DEADLINE_S = 10.0
LINK = "link"  # the name of the control group of the processes that carry the link


def control_group(name: str, host: str) -> Path | None:
    """The control group that counts the CPU time of a host or the link; None without cgroup version 2."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, mount_point, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(mount_point) / f"file-share-lab-{name}-{host}"
    return None


def disk_directory(name: str, host: str) -> Path:
    """The folder on this machine's disk that is /srv/disk in a host."""
    return root_image.cache_directory() / "disks" / f"{name}-{host}"


def remove(name: str, hosts_file: Path) -> None:
    """Remove all files of an ended lab outside the cache. Safe to repeat."""
    remove_group(name, LINK)
    for host in ALL_HOSTS:
        remove_group(name, host)
        shutil.rmtree(disk_directory(name, host), ignore_errors=True)
    hosts_file.unlink(missing_ok=True)
    shutil.rmtree(state.directory(name), ignore_errors=True)
    with suppress(OSError):  # another lab has files in there
        state.RUN.rmdir()


def remove_group(name: str, host: str) -> None:
    """Remove a host's control group once its last process has ended."""
    group = control_group(name, host)
    if group is None or not group.is_dir():
        return
    with suppress(OSError):  # missing before Linux 5.14; the processes end anyway
        (group / "cgroup.kill").write_text("1")
    deadline = time.monotonic() + EMPTY_DEADLINE_S
    while time.monotonic() < deadline:
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
