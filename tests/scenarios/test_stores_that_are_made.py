"""Stores that the lab makes: over real servers, with real file systems, and after a controller that was killed."""

import signal
import time
from typing import Any

from support.local_lab import Bench, end

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
    done = bench.run(protocol=["smb"], tool=["cp"], store=stores, **LEVELS)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = bench.trials()
    assert sorted((trial["store"], trial["direction"]) for trial in trials) == sorted(
        (store, direction) for store in stores for direction in ("write", "read")
    )
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
    before = bench.state()
    factors = {"protocol": ["smb"], "tool": ["cp"], "store": ["btrfs"], "size": "128 MiB"}
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(**factors))) as run:
        image = wait_for_a_mounted_image(bench)
        end(run, signal.SIGKILL)
    bench.wait_until_free()
    assert loops_over(bench, image)
    restored = bench.lab("restore", "--hosts", str(bench.hosts))
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert bench.state() == before
    assert not loops_over(bench, image)


def wait_for_a_mounted_image(bench: Bench) -> str:
    """Where the image of the trial under way is."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        image = bench.inside("server", IMAGES).strip()
        if image and loops_over(bench, image):
            return image
        time.sleep(0.05)
    raise AssertionError("no image was mounted")
