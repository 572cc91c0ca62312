"""Devices that the user named: over real servers, with real file systems; and somebody's data, offered as one."""

import hashlib
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import Bench, end
from support.pulled import plug_in, pull

from lab.stores.named_device import NamedDevice

SIZE = 700 << 20
ENDS = 2 << 20
NAMED: dict[str, Any] = {"store": ["ext4", "xfs", "btrfs"], "ext4.disk": ["image", "named"], "xfs.disk": ["named"]}
ON_BTRFS: dict[str, Any] = {"protocol": ["smb"], "tool": ["cp"], "store": ["btrfs"], "btrfs.disk": ["named"]}
OF_RECORDS = re.compile("/var/lib/file-share-lab(/journal.*)?$|file-share-lab: lease")
REFUSAL = "server: {device} cannot be taken: {reason}"


def command(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[str]:
    """A disk that holds nothing: a loop device, which all hosts of this machine see."""
    file = tmp_path / "disk"
    with file.open("wb") as stream:
        stream.truncate(SIZE)
    device = command("losetup", "--find", "--show", str(file))
    yield device
    command("losetup", "--detach", device)


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
    sweep = bench.sweep(**{"protocol": ["smb"], "tool": ["cp"], "direction": ["write"], **factors})
    return bench.lab("run", "--hosts", str(hosts_with(bench, device)), str(sweep), "--write-to", device)


def test_file_systems_are_made_on_it_and_it_is_given_back_with_zeros(bench: Bench, disk: str) -> None:
    before, checked = bench.state(), bench.lab("check", "--hosts", str(hosts_with(bench, disk))).stdout
    assert f"ok       server devices: {disk}: nothing on it, and not in use" in checked
    done = run_on(bench, disk, **(NAMED | {"btrfs.disk": ["named"]}))
    assert done.returncode == 0, done.stdout + done.stderr
    made = {}
    for trial in bench.trials():
        assert (trial["status"], trial["verified"]) == ("ok", True), trial["reason"]
        made[trial["store"], trial["effective"][f"{trial['store']}.disk"]] = trial["effective"]["server_store"]
        assert 0.75 * (400 << 20) < trial["observed"]["store_capacity_bytes"] < 400 << 20
    assert {key: text.rpartition("; ")[2] for key, text in made.items() if key[1] == "named"} == {
        (store, "named"): f"on {disk}" for store in ("ext4", "xfs", "btrfs")
    }
    assert " in an image of 400 MiB on " in made["ext4", "image"]
    assert not any(ends_of(disk))
    assert bench.state() == before


def killed_while_making(bench: Bench, device: str) -> Path:
    """Kill a run that makes a file system on the device; the hosts file of it."""
    hosts, sweep = hosts_with(bench, device), bench.sweep(**(ON_BTRFS | {"size": "128 MiB"}))
    with bench.started("run", "--hosts", str(hosts), str(sweep), "--write-to", device) as run:
        bench.wait_for("mkfs.btrfs", run)
        end(run, signal.SIGKILL)
    bench.wait_until_free()
    return hosts


def test_after_a_controller_that_was_killed_it_is_given_back(bench: Bench, disk: str) -> None:
    before = bench.state()
    hosts = killed_while_making(bench, disk)
    assert b"file-share-lab-" in ends_of(disk)
    refused = run_on(bench, disk, **ON_BTRFS)
    assert refused.returncode == 1, refused.stdout + refused.stderr
    restored = bench.lab("restore", "--hosts", str(hosts))
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert not any(ends_of(disk))
    assert bench.state() == before


def without_records(state: dict[str, list[str]]) -> dict[str, list[str]]:
    """The same, less the server's own journal and the guard of it, there for as long as something is to be put back."""
    return {host: [line for line in lines if not OF_RECORDS.match(line)] for host, lines in state.items()}


def test_one_that_is_pulled_in_mid_run_is_told_and_cleared_once_it_is_back(bench: Bench, disk: str) -> None:
    before, hosts = bench.state(), hosts_with(bench, disk)
    sweep = bench.sweep(
        protocol=["smb"], tool=["cp", "dd"], direction=["write"], size="128 MiB", store=["ext4"],
        **{"ext4.disk": ["named"]},
    )  # fmt: skip
    gone = f"server: the device {disk} is gone"
    with bench.started("run", "--hosts", str(hosts), str(sweep), "--write-to", disk) as run:
        bench.wait_for("b001-0001-", run)  # its payload is on the client
        pull(disk)
        said, _ = run.communicate(timeout=300)
    assert (run.returncode, "Traceback" in said) == (1, False), said
    assert f"{gone}, with the lab's mark on it" in said
    (failed,) = bench.trials()
    assert (failed["status"], failed["reason"].startswith(f"{gone}; ")) == ("failed", True), failed["reason"]
    assert without_records(bench.state()) == before
    restored = bench.lab("restore")
    assert restored.returncode == 1
    assert f"{gone}, with the lab's mark on it" in restored.stderr
    plug_in(disk)
    assert b"file-share-lab-" in ends_of(disk)
    assert bench.lab("restore").returncode == 0
    assert not any(ends_of(disk))
    assert bench.state() == before


def test_one_that_will_not_come_back_is_let_go_of(bench: Bench, disk: str) -> None:
    before = bench.state()
    killed_while_making(bench, disk)
    pull(disk)
    other = bench.lab("restore", "--gone", "/dev/another")
    assert (other.returncode, f"`lab restore --gone {disk}`" in other.stderr) == (1, True), other.stderr
    let_go = bench.lab("restore", "--gone", disk)
    assert let_go.returncode == 0, let_go.stdout + let_go.stderr
    assert bench.state() == before
    plug_in(disk)
    assert b"file-share-lab-" in ends_of(disk)


def write_noise(device: str) -> None:
    """Somebody's data, of no kind that any program knows."""
    with Path(device).open("r+b") as stream:
        stream.seek((1 << 20) + 4096)
        stream.write(os.urandom(10_000))


def write_noise_at_end(device: str) -> None:
    with Path(device).open("r+b") as stream:
        stream.seek(-4096, os.SEEK_END)
        stream.write(os.urandom(4096))


def make_ext4(device: str) -> None:
    command("mkfs.ext4", "-q", device)


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (write_noise, "it holds data: its first and last 2 MiB are not all zeros"),
        (write_noise_at_end, "it holds data: its first and last 2 MiB are not all zeros"),
        (make_ext4, "it holds data: ext4"),
    ],
)
def test_somebodys_data_is_left_alone(bench: Bench, disk: str, prepare: Callable[[str], None], reason: str) -> None:
    prepare(disk)
    before, content = bench.state(), digest(disk)
    done = run_on(bench, disk, **ON_BTRFS)
    assert done.returncode == 1
    assert REFUSAL.format(device=disk, reason=reason) in done.stderr
    checked = bench.lab("check", "--hosts", str(hosts_with(bench, disk))).stdout
    assert f"warning  server devices: {disk} cannot be taken: {reason}" in checked
    assert (bench.state(), digest(disk)) == (before, content)


def test_one_that_cannot_be_read_is_not_taken_for_free(bench: Bench, disk: str, tmp_path: Path) -> None:
    os.truncate(tmp_path / "disk", 0)  # its loop goes on to be as large as it was
    mark = "file-share-lab-0123456789abcdef"
    assert bench.execute("server", *NamedDevice(disk, mark).read().argv).stdout == "unreadable\n"
    (undo,) = NamedDevice(disk, mark).undo("free")
    assert bench.execute("server", *undo.argv).stderr == f"{disk} cannot be read\n"


def test_one_in_use_is_left_alone(bench: Bench, disk: str, tmp_path: Path) -> None:
    make_ext4(disk)
    (tmp_path / "mounted").mkdir()
    command("mount", disk, str(tmp_path / "mounted"))
    try:
        (tmp_path / "mounted/letter").write_text("dear")
        done = run_on(bench, disk, **ON_BTRFS)
        assert "it is in use: Device or resource busy" in done.stderr
        assert (tmp_path / "mounted/letter").read_text() == "dear"
    finally:
        command("umount", disk)


def test_nothing_is_written_to_without_its_name_at_the_command(bench: Bench, disk: str) -> None:
    hosts, sweep = hosts_with(bench, disk), bench.sweep(**ON_BTRFS)
    done = bench.lab("run", "--hosts", str(hosts), str(sweep))
    assert done.returncode == 2
    assert (
        f"the sweep writes to {disk} of the server\nmake sure that nobody needs it; then: --write-to {disk}"
        in done.stderr
    )
    assert not any(ends_of(disk))
