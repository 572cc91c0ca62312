"""Guests with ZFS: make, read, import and destroy pools, also on a disk that lies about its sectors."""

import platform
from collections.abc import Iterator

import pytest
from support.guests import left_but_for_zfs
from support.local_lab import Bench, gone

from lab.base.present import present
from lab.local import guest_kernels, state

ONLY = f"guests are for {guest_kernels.MACHINE} only"
pytestmark = pytest.mark.skipif(platform.machine() != guest_kernels.MACHINE, reason=ONLY)
TRACES = "lsmod | grep -e ^zfs -e ^spl -e ^loop; ls /srv/disk"
# $1: an ashift. Prints the ashift of the pool and of a device, and digests of a file before and after the import
POOL = """
cd /srv/disk
truncate -s 256M one two
zpool create -o "ashift=$1" -m /run/pool pool mirror "$PWD/one" "$PWD/two"
zpool get -H -o value ashift pool
zpool get -H -o value ashift pool "$PWD/two"
zpool status pool
head -c 4M /dev/urandom > /run/pool/file
sha256sum < /run/pool/file
zpool export pool
zpool import -d /srv/disk pool
sha256sum < /run/pool/file
zpool destroy pool
rm one two
rmdir /run/pool
"""
# A disk with sectors of 4096 bytes, below one that says 512. Prints the reads and writes of the lower one
LIAR = """
cd /srv/disk
modprobe loop
truncate -s 300M sectors
physical=$(losetup --find --show --sector-size 4096 sectors)
liar=$(losetup --find --show --sector-size 512 "$physical")
sectors() { awk '{ print $3, $7 }' "/sys/block/${physical#/dev/}/stat"; }
sectors
dd if=/dev/urandom of="$liar" bs=512 count=1 seek=100001 oflag=direct conv=notrunc 2>/dev/null
blockdev --flushbufs "$liar"
blockdev --flushbufs "$physical"
sectors
for device in "$liar" "$physical"; do
    zpool create -f -o ashift=9 -m none pool "$device"
    zpool get -H -o value ashift pool "$device"
    zpool destroy pool
done
losetup --detach "$liar"
losetup --detach "$physical"
rm sectors
"""


@pytest.fixture
def guests(with_zfs: Bench) -> Iterator[Bench]:
    """The guests; both must be unchanged afterwards, with no module loaded."""
    before = left_but_for_zfs(with_zfs)
    assert with_zfs.inside("server", f"{TRACES} || :") == ""
    yield with_zfs
    with_zfs.inside("server", "modprobe -r zfs loop")
    assert with_zfs.inside("server", f"{TRACES} || :") == ""
    assert left_but_for_zfs(with_zfs) == before


def test_the_cache_of_zfs_is_limited_as_its_module_is_loaded(guests: Bench) -> None:
    script = "modprobe zfs; grep '^c_max ' /proc/spl/kstat/zfs/arcstats"
    assert guests.inside("server", script).split() == ["c_max", "4", str(512 << 20)]


@pytest.mark.parametrize("ashift", ["9", "12"])
def test_a_pool_on_files_reads_back_keeps_a_file_and_goes(guests: Bench, ashift: str) -> None:
    done = guests.execute("server", "sh", "-euc", POOL, "sh", ashift)
    assert (done.returncode, done.stderr) == (0, "")
    of_pool, of_device, *status, written, read = done.stdout.splitlines()
    assert (of_pool, of_device) == (ashift, ashift)
    assert " state: ONLINE" in status
    assert "errors: No known data errors" in status
    assert written == read


def test_a_disk_that_lies_about_its_sectors_reads_and_writes_more_and_gets_the_ashift_of_its_lie(guests: Bench) -> None:
    done = guests.execute("server", "sh", "-euc", LIAR)
    assert (done.returncode, done.stderr) == (0, "")
    before, after, of_liar, of_honest = done.stdout.splitlines()
    assert (before, after) == ("0 0", "8 8")  # a whole sector of 4096 bytes each way, for 512
    assert (of_liar, of_honest) == ("9", "12")


def test_nothing_is_left_of_guests_with_zfs(with_zfs: Bench) -> None:
    assert present(state.load(with_zfs.name)).backend.endswith("-zfs")
    with_zfs.inside("server", "cd /srv/disk && truncate -s 256M one && zpool create -m /run/pool pool $PWD/one")
    with_zfs.check_output("local", "down", "--name", with_zfs.name)
    assert not gone(with_zfs.name)
    assert not with_zfs.hosts.exists()
