"""Making things scarce for a host of a local lab, from outside: its CPU by a quota, its disk by a throttled device."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from lab.local import cleanup, state

PERIOD_US = 20_000
# $1 a mount point; the kernel lets go of a loop device's file a moment after that is detached
UNMOUNT = 'for try in $(seq 50); do umount "$1" 2>/dev/null && exit; sleep 0.2; done; umount "$1"'
MIB = 2**20
# $1 and $2 groups of version 1, which this joins to show them, as roots, where such a host has them; $3 its process 1
SHOW_GROUPS = r"""
echo $$ > "$1/cgroup.procs" && echo $$ > "$2/cgroup.procs" && \
exec unshare --cgroup nsenter --target "$3" --mount sh -ec '
    mount -t tmpfs groups /sys/fs/cgroup
    for kind in cpu cpuacct; do
        mkdir "/sys/fs/cgroup/$kind"
        mount -t cgroup -o "$kind" "$kind" "/sys/fs/cgroup/$kind"
    done
'
"""


def _old_hierarchy(kind: str) -> Path | None:
    """Where a kind of control group of version 1 is mounted."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, mount_point, type_, options, *_ = line.split()
        if type_ == "cgroup" and kind in options.split(","):
            return Path(mount_point)
    return None


def _pid(name: str, role: str) -> int:
    lab = state.load(name)
    assert lab is not None
    return lab.hosts[role].pid


@contextmanager
def quota(name: str, role: str, cores: float) -> Iterator[None]:
    """So many cores for a host, and no more. Skips where this kernel has no quota that the host could see."""
    group = cleanup.control_group(name, role)
    if group is None:
        pytest.skip("this kernel has no control groups of version 2, so that hosts have none")
    quota_us = round(cores * PERIOD_US)
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
        try:
            yield
        finally:
            (group / "cpu.max").write_text(f"max {PERIOD_US}")
        return
    with _old_groups(name, role, group) as cpu:
        (cpu / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (cpu / "cpu.cfs_quota_us").write_text(str(quota_us))
        yield


@contextmanager
def _old_groups(name: str, role: str, group: Path) -> Iterator[Path]:
    """A host's processes in groups of version 1, which it sees; that of its CPU quota."""
    roots = [root for root in map(_old_hierarchy, ("cpu", "cpuacct")) if root]
    if len(roots) < 2 or roots[0] == roots[1]:
        pytest.skip("this kernel has no CPU quota: neither cpu.max nor cpu and cpuacct of control groups version 1")
    pid = str(_pid(name, role))
    groups = [root / group.name for root in roots]
    with ExitStack() as undo:
        for each in groups:
            each.mkdir()
            undo.callback(each.rmdir)
            undo.callback(_move, each, each.parent)
            _move(group, each)
        subprocess.run(["sh", "-c", SHOW_GROUPS, "sh", *map(str, groups), pid], check=True)
        shown = [f"/sys/fs/cgroup/{kind}" for kind in ("cpu", "cpuacct")]
        undo.callback(_inside, pid, "umount", *shown, "/sys/fs/cgroup")
        yield groups[0]


def _move(source: Path, target: Path) -> None:
    """Move all processes of one group into another; one that has just ended needs no moving."""
    for _ in range(3):  # one that was started meanwhile
        for process in (source / "cgroup.procs").read_text().split():
            try:
                (target / "cgroup.procs").write_text(process)
            except ProcessLookupError:
                continue


def _inside(pid: str, *argv: str) -> None:
    subprocess.run(["nsenter", "--target", pid, "--mount", "--pid", "--", *argv], check=True)


@contextmanager
def slow_disk(name: str, folder: Path, path: str, bytes_per_s: int) -> Iterator[None]:
    """A disk of the server's at ``path`` that moves so many bytes a second; ``folder`` here takes what is on it.

    Skips where this kernel cannot throttle a disk, or has no loop devices.
    """
    throttles = _old_hierarchy("blkio")
    if throttles is None:
        pytest.skip("this kernel has no blkio of control groups version 1, which throttles a disk for everybody")
    image, pid = folder / "slow.img", str(_pid(name, "server"))
    with image.open("wb") as file:
        file.truncate(256 * MIB)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    attach = ["losetup", "--find", "--show", "--direct-io=on", str(image)]
    found = subprocess.run(attach, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip(f"no loop device: {found.stderr.strip()}")
    device = found.stdout.strip()
    with ExitStack() as undo:
        undo.callback(subprocess.run, ["losetup", "--detach", device], check=True)
        number = Path(f"/sys/class/block/{Path(device).name}/dev").read_text().strip()
        for way in ("read", "write"):
            throttle = throttles / f"blkio.throttle.{way}_bps_device"
            throttle.write_text(f"{number} {bytes_per_s}")
            undo.callback(throttle.write_text, f"{number} 0")
        _inside(pid, "mknod", "/dev/slow", "b", *number.split(":"))
        undo.callback(_inside, pid, "rm", "/dev/slow")
        _inside(pid, "mkdir", path)
        undo.callback(_inside, pid, "rmdir", path)
        _inside(pid, "mount", "/dev/slow", path)
        undo.callback(_inside, pid, "sh", "-c", UNMOUNT, "sh", path)
        yield
