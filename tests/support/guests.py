"""What a test between guests leaves on them, and runs on RAM disks that are block devices."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.local import state as lab_state
from support.local_lab import Bench

MIB = 1 << 20
# A kernel's own threads come and go as it pleases, and libmount keeps three empty files once it was used
NOT_OURS = ("[", "/run/mount/")
# What the libraries of ZFS keep once they were used: names of devices, and locks for exports
KEPT_BY_ZFS = {"/run/blkid", "/run/blkid/blkid.tab", "/var/lib/nfs/.etab.lock", "/var/lib/nfs/export-lock"}
WAITING = "ps -eo stat=,args= | grep '^D' || :"  # what no signal ends


def left(bench: Bench) -> dict[str, list[str]]:
    """The state of both hosts, without what is the kernel's own business."""
    state = bench.state()
    return {host: [line for line in lines if not line.startswith(NOT_OURS)] for host, lines in state.items()}


def left_but_for_zfs(bench: Bench) -> dict[str, list[str]]:
    """The same, without what the libraries of ZFS keep."""
    return {host: [line for line in lines if line not in KEPT_BY_ZFS] for host, lines in left(bench).items()}


def in_ext4(guests: Bench) -> Path:
    """The hosts file, with RAM disks that are block devices."""
    return guests.changed_hosts(client_ram_disk_format="ext4", server_ram_disk_format="ext4")


@contextmanager
def a_long_run(guests: Bench) -> Iterator[subprocess.Popen[str]]:
    """One on such RAM disks, to be ended."""
    sweep = guests.sweep(protocol=["nfs"], tool=["cp"], blocks=50)
    with guests.started("run", "--hosts", str(in_ext4(guests)), str(sweep)) as run:
        yield run


def modules(guests: Bench) -> set[str]:
    """What is known of brd on both hosts."""
    return {guests.inside(host, "ls -d /sys/module/brd /dev/ram* 2>/dev/null || :") for host in lab_state.HOSTS}


def wait_for_a_pool(bench: Bench, run: subprocess.Popen[str]) -> None:
    """Until the pool of a trial is there. By itself zpool would load the module, which was then there before."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if bench.inside("server", "[ ! -e /sys/module/zfs ] || zpool list -H -o name").startswith("file-share-lab-"):
            return
        assert run.poll() is None, run.stdout and run.stdout.read()
        time.sleep(0.1)
    raise AssertionError("no pool was made")
