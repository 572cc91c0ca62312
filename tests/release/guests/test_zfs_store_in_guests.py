"""The store zfs behind a real server: pools as asked, cold reads that are proven, and nothing left behind."""

import signal
from typing import Any

from support.guests import left_but_for_zfs, wait_for_a_pool
from support.local_lab import Bench, end

LEVELS: dict[str, Any] = {"zfs.ashift": [12], "zfs.raid": ["raidz"], "zfs.sync": ["always"]}
ON_ZFS: dict[str, Any] = {"protocol": ["nfs"], "tool": ["cp"], "store": ["zfs"], **LEVELS}
SIZE = 8 << 20
DISK_TRACES = "ls -d /dev/file-share-lab-* /sys/block/loop*/loop/backing_file 2>/dev/null || :"


def test_pools_are_made_read_cold_and_counted_and_nothing_is_left(with_zfs: Bench) -> None:
    before, factors = left_but_for_zfs(with_zfs), ON_ZFS | {"server_cache": ["warm", "cold"]}
    trials = with_zfs.measure(size="8 MiB", **factors)
    assert len(trials) == 3
    for trial in trials:
        assert (trial["status"], trial["verified"]) == ("ok", True), trial["reason"]
        effective, observed = trial["effective"], trial["observed"]
        assert effective["server_store"].startswith("zfs 2.")
        assert (effective["zfs.raid"], effective["zfs.vdevs"], effective["zfs.sync"]) == ("raidz", "3", "always")
        assert effective["zfs.ashift"] == trial["options"]["zfs.ashift"]
        read = observed["store_read_bytes"]
        if trial["direction"] == "write":
            assert observed["store_written_bytes"] > 1.4 * SIZE, "the payload and a parity for each two"
        elif trial["options"]["server_cache"] == "cold":
            assert read >= SIZE
        else:
            assert read < SIZE / 4
    assert "on devices" in with_zfs.lab("show", "--table", "capacity").stdout
    assert left_but_for_zfs(with_zfs) == before
    assert with_zfs.inside("server", "ls -d /sys/module/zfs 2>/dev/null || :") == ""


def test_disks_that_say_512_bytes_read_for_what_is_written_in_less_than_their_sectors(with_zfs: Bench) -> None:
    factors = ON_ZFS | {"zfs.ashift": [9, 12], "zfs.disks": ["512e"]}
    trials = with_zfs.measure(size="8 MiB", direction=["write"], blocks=1, **factors)
    of_ashift = {trial["effective"]["zfs.ashift"]: trial for trial in trials}
    for trial in of_ashift.values():
        assert (trial["status"], trial["effective"]["zfs.disks"]) == ("ok", "512e"), trial["reason"]
    observed = {ashift: trial["observed"] for ashift, trial in of_ashift.items()}
    assert observed["9"]["store_read_bytes"] > SIZE / 100
    assert observed["12"]["store_read_bytes"] < observed["9"]["store_read_bytes"] / 4


def test_after_a_controller_that_was_killed_no_pool_no_disk_and_no_file_is_left(with_zfs: Bench) -> None:
    before = left_but_for_zfs(with_zfs)
    with with_zfs.started_run(size="64 MiB", **ON_ZFS | {"zfs.disks": ["512e"]}) as run:
        wait_for_a_pool(with_zfs, run)
        end(run, signal.SIGKILL)
    assert with_zfs.inside("server", DISK_TRACES)
    with_zfs.wait_until_free()
    with_zfs.check_output("restore", "--hosts", str(with_zfs.hosts))
    assert left_but_for_zfs(with_zfs) == before
    assert with_zfs.inside("server", DISK_TRACES) == ""
    assert with_zfs.inside("server", "ls -d /sys/module/zfs 2>/dev/null || :") == ""
