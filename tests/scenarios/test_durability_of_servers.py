"""Real servers at every level of durability, and reads from memory and from the disk: by what they do, not how fast."""

from typing import Any

import pytest
from support.local_lab import Bench

WRITE: dict[str, Any] = {"tool": ["cp"], "direction": ["write"], "store": ["disk"], "size": "4 MiB"}


@pytest.mark.parametrize(
    ("protocols", "levels"),
    [(["nfs", "smb"], ["default", "async", "sync", "always"])],
)
def test_each_level_is_what_the_server_that_runs_is_at(bench: Bench, protocols: list[str], levels: list[str]) -> None:
    done = bench.run(protocol=protocols, server_sync=levels, **WRITE)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = bench.trials()
    assert len(trials) == len(protocols) * len(levels)
    for trial in trials:
        asked, effective = trial["options"]["server_sync"], trial["effective"]
        assert effective["server_sync"] == (asked if asked != "default" else "sync")
        assert effective["server_sync_by"]


def test_without_a_flush_the_time_ends_with_the_tool(bench: Bench) -> None:
    done = bench.run(protocol=["smb"], tool=["cp"], client_sync=["fsync", "close"])
    assert done.returncode == 0, done.stdout + done.stderr
    for trial in bench.trials():
        assert trial["effective"]["flushed"] == {"fsync": "fsync", "close": "none"}[trial["options"]["client_sync"]]
        flush_s = trial["observed"].get("flush_s")
        assert flush_s is None if trial["options"]["client_sync"] == "close" else 0 < flush_s < trial["elapsed_s"]
        assert trial["effective"].get("server_cache") == ("warm" if trial["direction"] == "read" else None)
