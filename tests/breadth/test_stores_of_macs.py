"""Volumes and a pool made on an emulated Mac: its servers share them, and no killed controller leaves one."""

import signal
from collections.abc import Callable
from typing import Any

from support.local_lab import Bench, end
from support.macs import state
from support.waiting import wait_until

CLIENT, SERVER = "macos@10.15", "macos@10.13"  # the only version that serves APFS and has AFP
LEVELS: dict[str, Any] = {"hfs.image": ["sparsebundle"], "apfs.case": ["sensitive"]}
WORDS = {
    "hfs": ("hfs, case-insensitive, sparsebundle, ", "journaled"),
    "apfs": ("apfs, case-sensitive, sparseimage, ", "noatime"),
}
ATTACHED = "hdiutil info | sed -n 's/^image-path *: *//p'"
IMAGES = "find /private/var -name 'store.*' 2>/dev/null || :"
PACKAGE = "/Users/lab/OpenZFSonOsX-2.2.3.pkg"
POOLS = "/usr/local/zfs/bin/zpool list -H -o name"


def macs(new_bench: Callable[..., Bench]) -> Bench:
    return new_bench("--platform", f"client={CLIENT}", "--platform", f"server={SERVER}")


def test_volumes_in_images_are_shared_and_removed_after_a_kill(new_bench: Callable[..., Bench]) -> None:
    bench = macs(new_bench)
    before = state(bench, (CLIENT, SERVER))
    trials = bench.measure(protocol=["smb", "nfs"], tool=["cp"], direction=["write"], store=["hfs", "apfs"], **LEVELS)
    stores = sorted((trial["store"], trial["protocol"]) for trial in trials)
    assert stores == [("apfs", "nfs"), ("apfs", "smb"), ("hfs", "nfs"), ("hfs", "smb")]
    for trial in trials:
        assert (trial["status"], trial["verified"]) == ("ok", True), trial["reason"]
        begin, option = WORDS[trial["store"]]
        assert trial["effective"]["server_store"].startswith(begin)
        assert option in trial["effective"]["server_store"]
        assert 0.9 * 2**31 < trial["observed"]["store_capacity_bytes"] < 2**31
    assert state(bench, (CLIENT, SERVER)) == before
    kill_once_made(bench, ATTACHED, "/store.", store=["apfs"])
    bench.check_output("restore", "--hosts", str(bench.hosts))
    assert bench.inside("server", ATTACHED) == bench.inside("server", IMAGES) == ""
    assert state(bench, (CLIENT, SERVER)) == before


def test_a_pool_of_openzfs_is_shared_and_removed_after_a_kill(new_bench: Callable[..., Bench]) -> None:
    """AFP shares only what is called HFS+."""
    bench = macs(new_bench)
    factors: dict[str, Any] = {"tool": ["cp"], "direction": ["write"], "o3x.ashift": [13]}
    missing = bench.run(protocol=["smb"], store=["disk", "o3x"], **factors)
    left_out = "server: store o3x: its kernel has no OpenZFS on OS X"
    assert left_out in missing.stdout + missing.stderr

    bench.inside("server", f"touch {PACKAGE} && installer -pkg {PACKAGE} -target /")
    before = state(bench, (CLIENT, SERVER))
    bench.measure(protocol=["smb", "afp"], store=["o3x"], **factors)
    trials = [trial for trial in bench.trials() if trial["store"] == "o3x"]
    assert sorted(trial["protocol"] for trial in trials) == ["afp", "smb"]
    for trial in trials:
        assert (trial["status"], trial["verified"]) == ("ok", True), trial["reason"]
        words = "o3x 2.2.3-1, case-insensitive, sparseimage, ashift 13, shown as hfs, "
        assert trial["effective"]["server_store"].startswith(words)
        assert 0.85 * 2**31 < trial["observed"]["store_capacity_bytes"] < 0.94 * 2**31
    assert state(bench, (CLIENT, SERVER)) == before
    mimic: dict[str, Any] = {"o3x.mimic": ["off"]}
    kill_once_made(bench, POOLS, "", store=["o3x"], **mimic)
    assert bench.inside("server", POOLS).startswith("file-share-lab-")
    bench.check_output("restore", "--hosts", str(bench.hosts))
    assert bench.inside("server", POOLS) == bench.inside("server", IMAGES) == ""
    assert state(bench, (CLIENT, SERVER)) == before


def kill_once_made(bench: Bench, look: str, text: str, **factors: Any) -> None:
    """Kill the controller of a run as soon as the command ``look`` shows this text, or any text, on the server."""
    with bench.started_run(protocol=["smb"], tool=["cp"], size="128 MiB", **factors) as run:
        wait_until(lambda: (seen := bench.inside("server", look)) and text in seen, "a store", 120, run)
        end(run, signal.SIGKILL)
    bench.wait_until_free()
    assert "store.sparseimage" in bench.inside("server", IMAGES)
