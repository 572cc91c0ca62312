"""Disks that say 512 bytes, of this machine's own kernel: what they read and write, and that others' loops stay."""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.hosts.command import Command, script
from lab.stores import DeviceBytes, parse_device_bytes
from lab.stores.loop_disks import FUNCTIONS, LoopDisks, loop_disks

COUNT = FUNCTIONS + 'look_below "$1" && count_moved'
MIB = 1 << 20


def run(command: Command) -> str:
    done = subprocess.run(command.argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Disks:
    """Two disks over files in a folder, and a loop of somebody else's."""

    def __init__(self, folder: Path, others: str):
        name = f"file-share-lab-{secrets.token_hex(8)}"
        self.files, self.nodes, self.others = folder / name / "store.vdevs", Path("/dev", name), others
        self.files.mkdir(parents=True)
        for number in (1, 2):
            (self.files / f"vdev-{number}").touch()
            os.truncate(self.files / f"vdev-{number}", 4 * MIB)
        self.operation = LoopDisks(str(self.files), str(self.nodes))

    def make(self) -> None:
        for step in loop_disks("server", str(self.files), str(self.nodes)).apply:
            run(step)
        if shutil.which("udevadm"):  # it looks into new devices, which is counted
            subprocess.run(("udevadm", "settle"), timeout=60)

    def remove(self) -> None:
        for step in self.operation.undo("absent"):
            run(step)

    @property
    def state(self) -> str:
        return run(self.operation.read())

    def moved(self) -> DeviceBytes:
        counted = parse_device_bytes(run(script(COUNT, str(self.nodes / "vdev-1"))) + "\n")
        assert counted is not None
        return counted

    def write(self, size: int, at: int) -> DeviceBytes:
        """What the disk moves for a write of this size, at a place counted in such sizes."""
        before = self.moved()
        words = ("if=/dev/urandom", f"of={self.nodes}/vdev-1", f"bs={size}", f"seek={at}", "count=1", "oflag=direct")
        subprocess.run(("dd", *words), check=True, capture_output=True, timeout=60)
        after = self.moved()
        return DeviceBytes(after.read - before.read, after.written - before.written)


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[Disks]:
    photos = tmp_path / "photos.img"
    photos.touch()
    os.truncate(photos, MIB)
    others = run(Command(("losetup", "--find", "--show", str(photos))))
    made = Disks(tmp_path, others)
    try:
        yield made
    finally:
        made.remove()
        subprocess.run(("losetup", "-d", others), check=True, timeout=60)


def test_a_write_of_one_sector_reads_and_writes_eight(disks: Disks) -> None:
    disks.make()
    assert disks.state == "present"
    assert disks.write(512, 1001) == DeviceBytes(4096, 4096)
    assert disks.write(512, 1002) == DeviceBytes(0, 4096), "what was read is in its cache"
    assert disks.write(4096, 7) == DeviceBytes(0, 4096)
    assert disks.write(8192 + 512, 33) == DeviceBytes(2 * 4096, 3 * 4096), "of three, the two at the ends"
    disks.remove()
    assert disks.state == "absent"
    assert not disks.nodes.exists()
    assert Path("/sys/block", Path(disks.others).name, "loop", "backing_file").exists(), "others' loop stays"


def test_what_is_there_by_half_goes_and_so_do_disks_over_a_file_that_is_gone(disks: Disks) -> None:
    disks.make()
    (disks.nodes / "vdev-1").unlink()
    assert disks.state == "no disk vdev-1"
    (disks.files / "vdev-2").unlink()  # the kernel now calls what is below "… (deleted)"
    disks.remove()
    assert disks.state == "absent"


def test_a_node_of_another_loop_is_no_disk(disks: Disks) -> None:
    disks.make()
    (disks.nodes / "vdev-1").unlink()
    os.mknod(disks.nodes / "vdev-1", 0o600 | 0o060000, Path(disks.others).stat().st_rdev)
    assert disks.state == "no disk vdev-1"
