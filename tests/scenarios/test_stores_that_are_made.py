"""Stores that the lab makes, on real devices and file systems, and what a killed controller leaves of them."""

import itertools
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import Bench, end, succeeded
from support.waiting import wait_until

from lab.base.present import present
from lab.hosts.command import Command, script
from lab.stores import DeviceBytes, parse_device_bytes
from lab.stores.zpool import LOOP_FUNCTIONS, LoopDisks, loop_disks

LOOPS = 'grep -lxF "$1" /sys/block/loop*/loop/backing_file 2>/dev/null'
IMAGES = "find /var/lib/file-share-lab -name store.image 2>/dev/null || :"
WORDS = {
    "ext4": ("ext4, blocks of 4096 bytes, ", "data=journal"),
    "xfs": ("xfs, blocks of 4096 bytes, 4 allocation groups, ", "noquota"),
    "btrfs": ("btrfs, data single, metadata DUP, ", "compress=zstd:3"),
}
LEVELS: dict[str, Any] = {"ext4.data": ["journal"], "btrfs.compress": ["zstd"]}


def loops_over(bench: Bench, image: str) -> str:
    """The loops over an image: the kernel has one list for all hosts, with those of other labs."""
    return bench.execute("server", "sh", "-c", LOOPS, "sh", image).stdout.strip()


def test_each_file_system_is_made_anew_and_says_what_it_is(bench: Bench) -> None:
    stores = ["ram", *WORDS]
    trials = bench.measure(protocol=["smb"], tool=["cp"], store=stores, **LEVELS)
    made = sorted((trial["store"], trial["direction"]) for trial in trials)
    assert made == sorted(itertools.product(stores, ("write", "read")))
    for trial in trials:
        assert (trial["status"], trial["verified"]) == ("ok", True), trial["reason"]
        effective, capacity = trial["effective"], trial["observed"].get("store_capacity_bytes")
        if trial["store"] == "ram":
            assert capacity is None
            continue
        begin, option = WORDS[trial["store"]]
        assert effective["server_store"].startswith(begin)
        assert option in effective["server_store"]
        assert 0.85 * 2**31 < capacity < 2**31
        for name, levels in LEVELS.items():
            if name.startswith(trial["store"]):
                assert [effective[name]] == levels == [trial["options"][name]]
    commands = (bench.newest() / "commands.log").read_text()
    assert commands.count("mkfs.btrfs") == 2, "one for each trial"
    assert "usable MiB" in bench.lab("show", "--table", "capacity").stdout


def test_after_a_controller_that_was_killed_no_mount_no_loop_and_no_image_is_left(bench: Bench) -> None:
    with bench.started_run(protocol=["smb"], tool=["cp"], store=["btrfs"], size="128 MiB") as run:
        wait_until(lambda: (image := bench.inside("server", IMAGES).strip()) and loops_over(bench, image), "an image")
        image = bench.inside("server", IMAGES).strip()
        end(run, signal.SIGKILL)
    bench.wait_until_free()
    assert loops_over(bench, image)
    bench.check_output("restore", "--hosts", str(bench.hosts))
    assert not loops_over(bench, image)


COUNT = LOOP_FUNCTIONS + 'look_below "$1" && count_moved'
MIB = 1 << 20


def run(command: Command) -> str:
    return succeeded(subprocess.run(command.argv, capture_output=True, text=True, timeout=60)).stdout.strip()


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
        if shutil.which("udevadm"):  # udev reads new devices, which would count
            subprocess.run(("udevadm", "settle"), timeout=60)

    def remove(self) -> None:
        for step in self.operation.undo("absent"):
            run(step)

    @property
    def state(self) -> str:
        return run(self.operation.read())

    def moved(self) -> DeviceBytes:
        return present(parse_device_bytes(run(script(COUNT, str(self.nodes / "vdev-1"))) + "\n"))

    def write(self, size: int, at: int) -> DeviceBytes:
        """What the disk moves for one write; ``at`` counts in the size of the write."""
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


def test_disks_without_a_node_of_their_own_or_a_file_are_removed(disks: Disks) -> None:
    disks.make()
    node = disks.nodes / "vdev-1"
    node.unlink()
    os.mknod(node, 0o600 | 0o060000, Path(disks.others).stat().st_rdev)  # the loop of somebody else
    assert disks.state == "no disk vdev-1"
    node.unlink()
    assert disks.state == "no disk vdev-1"
    (disks.files / "vdev-2").unlink()  # the kernel then calls the file "… (deleted)"
    disks.remove()
    assert disks.state == "absent"
