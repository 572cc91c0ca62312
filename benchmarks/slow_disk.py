"""Why NFS writes are slow, between kernels: ``python benchmarks/slow_disk.py [BLOCKS]``, six unless told otherwise.

Two guests of User Mode Linux on 1 Gbit/s, whose server has a disk that its kernel holds to 40 MB/s and 120 writes a
second. `cp` writes to it over NFS and SMB, by the kernel's clients and by GVfs; the server promises, and the client
waits for, more or less. Prints the tables of `lab show`. Needs root.
"""

import sys
from typing import Any

from bench_lab import bench_lab

# An own kernel can throttle a disk for everybody only by version 1 of control groups. The file is in memory, so that
# nothing but the throttle slows the disk.
SLOW_DISK = r"""
mkdir /run/blkio /srv/slow && mount -t cgroup -o blkio blkio /run/blkio && modprobe loop
truncate -s 1G /tmp/slow.img && mkfs.ext4 -q /tmp/slow.img
device=$(losetup --find --show /tmp/slow.img)
mount "$device" /srv/slow
number=$(cat "/sys/block/${device#/dev/}/dev")
echo "$number 40000000" >/run/blkio/blkio.throttle.write_bps_device
echo "$number 120" >/run/blkio/blkio.throttle.write_iops_device
"""
FACTORS: dict[str, list[Any]] = {
    "protocol": ["nfs", "smb"],
    "direction": ["write"],
    "store": ["disk"],
    "server_sync": ["async", "sync"],
    "client_sync": ["fsync", "close"],
    "nfs.client": ["kernel", "gvfs"],
    "smb.client": ["kernel", "gvfs"],
}


def main() -> None:
    """Make the disk, run the sweep and print what came of it."""
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    with bench_lab("--rate", "1gbit", "--kernel", "own", "--backend", "uml") as lab:
        lab.lab("local", "exec", "--name", lab.name, "server", "--", "sh", "-ec", SLOW_DISK)
        hosts = lab.folder / "hosts.slow.ini"
        hosts.write_text(lab.hosts.read_text().replace("path = /srv/disk", "path = /srv/slow"))
        finished = lab.run(FACTORS, hosts, size="64 MiB", blocks=blocks, seed=20110918, ceiling_seconds="1 s")
        print(lab.lab("show", str(finished.folder)))


if __name__ == "__main__":
    main()
