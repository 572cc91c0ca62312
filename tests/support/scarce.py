"""Makes resources of a local lab's host scarce: CPU by a quota, disk by a throttled device."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from lab.local import cleanup
from support.local_lab import init_of

PERIOD_US = 20_000
# $1 is a mount point; the kernel frees the file of a loop device some time after its detachment
UNMOUNT = 'for try in $(seq 50); do umount "$1" 2>/dev/null && exit; sleep 0.2; done; umount "$1"'
MIB = 2**20
# Joins the version-1 groups $1 and $2, and mounts them as roots for the host with PID 1 $3
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
    """The mount point of a control group hierarchy of version 1."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, mount_point, type_, options, *_ = line.split()
        if type_ == "cgroup" and kind in options.split(","):
            return Path(mount_point)
    return None


@contextmanager
def quota(name: str, role: str, cores: float) -> Iterator[None]:
    """Give a host some cores and no more. Skips if this kernel has no quota that the host could see."""
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
    """A host's processes in groups of version 1 that it sees; yields the group of its CPU quota."""
    roots = [root for root in map(_old_hierarchy, ("cpu", "cpuacct")) if root]
    if len(roots) < 2 or roots[0] == roots[1]:
        pytest.skip("this kernel has no CPU quota: neither cpu.max nor cpu and cpuacct of control groups version 1")
    pid = str(init_of(name, role))
    groups = [root / group.name for root in roots]
    with ExitStack() as undo:
        for group_of_kind in groups:
            group_of_kind.mkdir()
            undo.callback(group_of_kind.rmdir)
            undo.callback(_move, group_of_kind, group_of_kind.parent)
            _move(group, group_of_kind)
        subprocess.run(["sh", "-c", SHOW_GROUPS, "sh", *map(str, groups), pid], check=True)
        shown = [f"/sys/fs/cgroup/{kind}" for kind in ("cpu", "cpuacct")]
        undo.callback(_inside, pid, "umount", *shown, "/sys/fs/cgroup")
        yield groups[0]


def _move(source: Path, target: Path) -> None:
    """Move all processes of a group; those that just ended need no moving."""
    for _ in range(3):  # processes may start meanwhile
        for process in (source / "cgroup.procs").read_text().split():
            try:
                (target / "cgroup.procs").write_text(process)
            except ProcessLookupError:
                continue


def _inside(pid: str, *argv: str) -> None:
    subprocess.run(["nsenter", "--target", pid, "--mount", "--pid", "--", *argv], check=True)


@contextmanager
def slow_disk(name: str, folder: Path, path: str, bytes_per_s: int) -> Iterator[None]:
    """A disk of the server at ``path`` with this speed; ``folder`` here takes its content.

    Skips if this kernel cannot throttle a disk, or has no loop devices.
    """
    throttles = _old_hierarchy("blkio")
    if throttles is None:
        pytest.skip("this kernel has no blkio of control groups version 1, which throttles a disk for everybody")
    image, pid = folder / "slow.img", str(init_of(name, "server"))
    with image.open("wb") as file:
        file.truncate(256 * MIB)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    attach = ["losetup", "--find", "--show", "--direct-io=on", str(image)]
    attached = subprocess.run(attach, capture_output=True, text=True, check=False)
    if attached.returncode != 0:
        pytest.skip(f"no loop device: {attached.stderr.strip()}")
    device = attached.stdout.strip()
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
