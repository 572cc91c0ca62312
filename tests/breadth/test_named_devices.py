"""Devices that the user named: over real servers, with real file systems; and somebody's data, offered as one."""

import fcntl
import hashlib
import os
import re
import struct
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import Bench

from lab.stores.named_device import NamedDevice

SIZE = 700 << 20
ENDS = 2 << 20
NAMED: dict[str, Any] = {"store": ["ext4", "xfs", "btrfs"], "ext4.disk": ["image", "named"], "xfs.disk": ["named"]}
ON_BTRFS: dict[str, Any] = {"protocol": ["smb"], "tool": ["cp"], "store": ["btrfs"], "btrfs.disk": ["named"]}
OF_RECORDS = re.compile("/var/lib/file-share-lab(/journal.*)?$|file-share-lab: lease")
NOT_ZERO = "it holds data: its first and last 2 MiB are not all zeros"


GET_STATUS, SET_STATUS = 0x4C05, 0x4C04  # LOOP_GET_STATUS64, LOOP_SET_STATUS64 of linux/loop.h
INFO = "<5Q4I64s64s32s2Q"  # struct loop_info64
SIZE_LIMIT = 4  # lo_sizelimit, bytes; 0 for none


def command(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[str]:
    """An empty disk: a loop device, which all hosts on this machine see."""
    file = tmp_path / "disk"
    with file.open("wb") as stream:
        stream.truncate(SIZE)
    device = command("losetup", "--find", "--show", str(file))
    yield device
    command("losetup", "--detach", device)


def pull(device: str) -> None:
    """Pull the disk out: a loop device of no bytes. Reads and writes fail, and the content stays."""
    _limit(device, 1)  # no whole sector
    assert sectors(device) == 0


def plug_in(device: str) -> None:
    _limit(device, 0)
    assert sectors(device) > 0


def sectors(device: str) -> int:
    return int(Path(f"/sys/block/{Path(device).name}/size").read_text())


def _limit(device: str, size_bytes: int) -> None:
    with Path(device).open("rb") as stream:
        info = list(struct.unpack(INFO, fcntl.ioctl(stream, GET_STATUS, bytes(struct.calcsize(INFO)))))
        info[SIZE_LIMIT] = size_bytes
        fcntl.ioctl(stream, SET_STATUS, struct.pack(INFO, *info))


def ends_of(device: str) -> bytes:
    with Path(device).open("rb") as stream:
        begin = stream.read(ENDS)
        stream.seek(-ENDS, os.SEEK_END)
        return begin + stream.read(ENDS)


def digest(device: str) -> str:
    with Path(device).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hosts_with(bench: Bench, device: str) -> Path:
    return bench.changed_hosts(share_image_size="400 MiB", share_devices=device)


def run_on(bench: Bench, device: str, **factors: Any) -> subprocess.CompletedProcess[str]:
    chosen = {"protocol": ["smb"], "tool": ["cp"], "direction": ["write"], **factors}
    return bench.run("--write-to", device, hosts=hosts_with(bench, device), **chosen)


def test_file_systems_are_made_on_a_device_that_is_given_back_with_zeros(bench: Bench, disk: str) -> None:
    checked = bench.lab("check", "--hosts", str(hosts_with(bench, disk))).stdout
    assert f"ok       server devices: {disk}: nothing on it, and not in use" in checked
    done = run_on(bench, disk, **(NAMED | {"btrfs.disk": ["named"]}))
    assert done.returncode == 0, done.stdout + done.stderr
    made = {}
    for trial in bench.trials():
        assert (trial["status"], trial["verified"]) == ("ok", True), trial["reason"]
        made[trial["store"], trial["effective"][f"{trial['store']}.disk"]] = trial["effective"]["server_store"]
        assert 0.75 * (400 << 20) < trial["observed"]["store_capacity_bytes"] < 400 << 20
    on_disk = {store: text.rpartition("; ")[2] for (store, where), text in made.items() if where == "named"}
    assert on_disk == dict.fromkeys(("ext4", "xfs", "btrfs"), f"on {disk}")
    assert " in an image of 400 MiB on " in made["ext4", "image"]
    assert not any(ends_of(disk))


def killed_while_making(bench: Bench, device: str) -> Path:
    """Kill a run that makes a file system on the device. Returns its hosts file."""
    hosts = hosts_with(bench, device)
    bench.kill_run("mkfs.btrfs", "--write-to", device, hosts=hosts, size="128 MiB", **ON_BTRFS)
    bench.wait_until_free()
    return hosts


def test_a_device_is_given_back_after_its_controller_was_killed(bench: Bench, disk: str) -> None:
    hosts = killed_while_making(bench, disk)
    assert b"file-share-lab-" in ends_of(disk)
    refused = run_on(bench, disk, **ON_BTRFS)
    assert refused.returncode == 1, refused.stdout + refused.stderr
    bench.check_output("restore", "--hosts", str(hosts))
    assert not any(ends_of(disk))


def test_a_device_that_is_pulled_in_mid_run_is_told_and_cleared_once_it_is_back(bench: Bench, disk: str) -> None:
    before, gone = bench.state(), f"server: the device {disk} is gone"
    factors: dict[str, Any] = {"protocol": ["smb"], "tool": ["cp", "dd"], "store": ["ext4"], "ext4.disk": ["named"]}
    factors |= {"direction": ["write"], "size": "128 MiB"}
    with bench.started_run("--write-to", disk, hosts=hosts_with(bench, disk), **factors) as run:
        bench.wait_for("b001-0001-", run)  # the payload is on the client
        pull(disk)
        output, _ = run.communicate(timeout=300)
    assert (run.returncode, "Traceback" in output) == (1, False), output
    assert f"{gone}, with the lab's mark on it" in output
    (failed,) = bench.trials()
    assert (failed["status"], failed["reason"].startswith(f"{gone}; ")) == ("failed", True), failed["reason"]
    # the server keeps its journal and the guard of its lease as long as something must be restored
    left = {host: [line for line in lines if not OF_RECORDS.match(line)] for host, lines in bench.state().items()}
    assert left == before
    assert f"{gone}, with the lab's mark on it" in bench.refusal(1, "restore")
    plug_in(disk)
    assert b"file-share-lab-" in ends_of(disk)
    bench.check_output("restore")
    assert not any(ends_of(disk))


def test_a_device_that_will_not_come_back_can_be_given_up(bench: Bench, disk: str) -> None:
    killed_while_making(bench, disk)
    pull(disk)
    assert f"`lab restore --gone {disk}`" in bench.refusal(1, "restore", "--gone", "/dev/another")
    bench.check_output("restore", "--gone", disk)
    plug_in(disk)
    assert b"file-share-lab-" in ends_of(disk)


def write_noise(place: int, whence: int, device: str) -> None:
    with Path(device).open("r+b") as stream:
        stream.seek(place, whence)
        stream.write(os.urandom(4096))


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (partial(write_noise, (1 << 20) + 4096, os.SEEK_SET), NOT_ZERO),
        (partial(write_noise, -4096, os.SEEK_END), NOT_ZERO),
        (partial(command, "mkfs.ext4", "-q"), "it holds data: ext4"),
    ],
)
def test_somebodys_data_is_left_alone(bench: Bench, disk: str, prepare: Callable[[str], None], reason: str) -> None:
    prepare(disk)
    content = digest(disk)
    done = run_on(bench, disk, **ON_BTRFS)
    assert done.returncode == 1
    assert f"server: {disk} cannot be taken: {reason}" in done.stderr
    checked = bench.lab("check", "--hosts", str(hosts_with(bench, disk))).stdout
    assert f"warning  server devices: {disk} cannot be taken: {reason}" in checked
    assert digest(disk) == content


def test_a_device_that_cannot_be_read_is_not_taken_for_free(bench: Bench, disk: str, tmp_path: Path) -> None:
    os.truncate(tmp_path / "disk", 0)  # the loop device keeps its size
    mark = "file-share-lab-0123456789abcdef"
    assert bench.execute("server", *NamedDevice(disk, mark).read().argv).stdout == "unreadable\n"
    (undo,) = NamedDevice(disk, mark).undo("free")
    assert bench.execute("server", *undo.argv).stderr == f"{disk} cannot be read\n"


def test_a_device_in_use_is_left_alone(bench: Bench, disk: str, tmp_path: Path) -> None:
    command("mkfs.ext4", "-q", disk)
    folder = tmp_path / "mounted"
    folder.mkdir()
    command("mount", disk, str(folder))
    try:
        (folder / "letter").write_text("dear")
        done = run_on(bench, disk, **ON_BTRFS)
        assert "it is in use: Device or resource busy" in done.stderr
        assert (folder / "letter").read_text() == "dear"
    finally:
        command("umount", disk)


def test_nothing_is_written_to_without_its_name_at_the_command(bench: Bench, disk: str) -> None:
    remedy = f"make sure that nobody needs it; then: --write-to {disk}"
    message = bench.refused_run(2, hosts=hosts_with(bench, disk), **ON_BTRFS)
    assert f"the sweep writes to {disk} of the server\n{remedy}" in message
    assert not any(ends_of(disk))
