"""A pool of OpenZFS on OS X, on an emulated Mac that has it: shared, and gone after a controller that was killed."""

import signal
import time
from collections.abc import Callable
from typing import Any

from support.local_lab import Bench, end
from support.macs import state

SERVER = "macos@10.13"  # has AFP, which shares only what is called HFS+
PACKAGE = "/Users/lab/OpenZFSonOsX-2.2.3.pkg"
POOLS = "/usr/local/zfs/bin/zpool list -H -o name"
IMAGES = "find /private/var -name 'store.*' 2>/dev/null || :"


def test_a_pool_is_made_where_o3x_is_installed_shared_and_removed_though_the_controller_is_killed(
    new_bench: Callable[..., Bench],
) -> None:
    bench = new_bench("--platform", "client=macos@10.15", "--platform", f"server={SERVER}")
    factors: dict[str, Any] = {"tool": ["cp"], "direction": ["write"], "o3x.ashift": [13]}
    missing = bench.run(protocol=["smb"], store=["disk", "o3x"], **factors)
    left_out = "server: store o3x: its kernel has no OpenZFS on OS X"
    assert left_out in missing.stdout + missing.stderr

    bench.inside("server", f"touch {PACKAGE} && installer -pkg {PACKAGE} -target /")
    before = state(bench, ("macos@10.15", SERVER))
    done = bench.run(protocol=["smb", "afp"], store=["o3x"], **factors)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = [trial for trial in bench.trials() if trial["store"] == "o3x"]
    assert sorted(trial["protocol"] for trial in trials) == ["afp", "smb"]
    for trial in trials:
        assert (trial["status"], trial["verified"]) == ("ok", True), trial["reason"]
        words = "o3x 2.2.3-1, case-insensitive, sparseimage, ashift 13, shown as hfs, "
        assert trial["effective"]["server_store"].startswith(words)
        assert 0.85 * 2**31 < trial["observed"]["store_capacity_bytes"] < 0.94 * 2**31
    assert state(bench, ("macos@10.15", SERVER)) == before

    again = {"protocol": ["smb"], "tool": ["cp"], "store": ["o3x"], "o3x.mimic": ["off"], "size": "128 MiB"}
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(**again))) as run:
        wait_for_a_pool(bench)
        end(run, signal.SIGKILL)
    bench.wait_until_free()
    assert "store.sparseimage" in bench.inside("server", IMAGES)
    assert bench.inside("server", POOLS).startswith("file-share-lab-")
    restored = bench.lab("restore", "--hosts", str(bench.hosts))
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert bench.inside("server", POOLS) == bench.inside("server", IMAGES) == ""
    assert state(bench, ("macos@10.15", SERVER)) == before


def wait_for_a_pool(bench: Bench) -> None:
    """Wait until the pool of the trial under way is there."""
    deadline = time.monotonic() + 120
    while not bench.inside("server", POOLS):
        assert time.monotonic() < deadline, "no pool was made"
        time.sleep(0.05)
