"""Volumes made on an emulated Mac: shared by its own servers, and gone after a controller that was killed."""

import signal
import time
from collections.abc import Callable
from typing import Any

from support.local_lab import Bench, end
from support.macs import state

SERVER = "macos@10.13"  # the only version that serves APFS and has AFP
LEVELS: dict[str, Any] = {"hfs.image": ["sparsebundle"], "apfs.case": ["sensitive"]}
WORDS = {
    "hfs": ("hfs, case-insensitive, sparsebundle, ", "journaled"),
    "apfs": ("apfs, case-sensitive, sparseimage, ", "noatime"),
}
ATTACHED = "hdiutil info | sed -n 's/^image-path *: *//p'"
IMAGES = "find /private/var -name 'store.*' 2>/dev/null || :"


def test_volumes_in_images_are_shared_told_and_removed_though_the_controller_is_killed(
    new_bench: Callable[..., Bench],
) -> None:
    bench = new_bench("--platform", "client=macos@10.15", "--platform", f"server={SERVER}")
    before = state(bench, ("macos@10.15", SERVER))
    done = bench.run(protocol=["smb", "nfs"], tool=["cp"], direction=["write"], store=["hfs", "apfs"], **LEVELS)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = bench.trials()
    assert sorted((trial["store"], trial["protocol"]) for trial in trials) == [
        ("apfs", "nfs"), ("apfs", "smb"), ("hfs", "nfs"), ("hfs", "smb"),
    ]  # fmt: skip
    for trial in trials:
        assert (trial["status"], trial["verified"]) == ("ok", True), trial["reason"]
        begin, option = WORDS[trial["store"]]
        assert trial["effective"]["server_store"].startswith(begin)
        assert option in trial["effective"]["server_store"]
        assert 0.9 * 2**31 < trial["observed"]["store_capacity_bytes"] < 2**31
    assert state(bench, ("macos@10.15", SERVER)) == before

    factors = {"protocol": ["smb"], "tool": ["cp"], "store": ["apfs"], "size": "128 MiB"}
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(**factors))) as run:
        wait_for_an_image(bench)
        end(run, signal.SIGKILL)
    bench.wait_until_free()
    assert "store.sparseimage" in bench.inside("server", IMAGES)
    restored = bench.lab("restore", "--hosts", str(bench.hosts))
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert bench.inside("server", ATTACHED) == bench.inside("server", IMAGES) == ""
    assert state(bench, ("macos@10.15", SERVER)) == before


def wait_for_an_image(bench: Bench) -> None:
    """Wait until the image of the trial under way is attached."""
    deadline = time.monotonic() + 120
    while "/store." not in bench.inside("server", ATTACHED):
        assert time.monotonic() < deadline, "no image was attached"
        time.sleep(0.05)
