"""Samba that serves Macs, with and without Time Machine: with it alone, a Mac's F_FULLFSYNC is a FLUSH."""

from collections.abc import Callable
from typing import Any

from support.local_lab import Bench

REFUSED = "fsync (F_FULLFSYNC: Operation not supported)"


def test_a_share_for_time_machine_takes_part_in_full_sync(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--platform", "client=macos@15.5", "--platform", "server=linux")
    levels: dict[str, Any] = {"smb.time_machine": ["default", False, True]}
    done = bench.run(protocol=["smb"], tool=["cp"], direction=["write"], size="1 MiB", blocks=1, **levels)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = bench.trials()
    told = {
        (
            trial["options"]["smb.time_machine"],
            trial["effective"].get("smb.time_machine"),
            trial["effective"]["flushed"],
        )
        for trial in trials
    }
    assert told == {("default", None, REFUSED), ("false", "false", REFUSED), ("true", "true", "F_FULLFSYNC")}
    assert bench.inside("client", "cat /linux/run/emulated_mac_smbfs/flushes-*") == "FLUSH\n" * len(trials)
