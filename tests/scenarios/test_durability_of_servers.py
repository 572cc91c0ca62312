"""Real servers at every level of durability, and reads from memory and from the disk: by what they do, not how fast."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import Bench
from support.server_processes import PROGRAM, during_a_run

WRITE: dict[str, Any] = {"tool": ["cp"], "direction": ["write"], "store": ["disk"], "size": "4 MiB"}


@pytest.mark.parametrize(
    ("protocols", "levels"),
    [(["nfs", "smb"], ["default", "async", "sync", "always"]), (["afp"], ["default", "async", "sync"])],
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


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize("protocol", ["nfs", "smb"])
def test_always_flushes_with_every_write_and_sync_with_the_file_at_most(
    bench: Bench, tmp_path: Path, protocol: str
) -> None:
    flushes, writes = {}, {}
    for level in ("sync", "always"):
        log = tmp_path / level

        def trace(found: list[str], log: Path = log) -> None:
            argv = ["strace", "-f", "-qq", "-y", "-e", "trace=fsync,fdatasync,pwrite64,pwritev", "-o", str(log)]
            subprocess.run([*argv, "-p", ",".join(found)], capture_output=True, timeout=120, check=False)

        during_a_run(bench, PROGRAM[protocol], trace, protocol=[protocol], server_sync=[level], **WRITE)
        of_payload = [
            line for line in log.read_text().splitlines() if re.search(r"\(\d+<[^>]*b001-0001-[0-9a-f]+\.bin", line)
        ]
        flushes[level] = sum("sync(" in line for line in of_payload)
        writes[level] = len(of_payload) - flushes[level]
    assert min(writes.values()) >= 4
    assert flushes["sync"] <= 2
    assert flushes["always"] >= writes["always"]


def test_without_a_flush_the_time_ends_with_the_tool(bench: Bench) -> None:
    done = bench.run(protocol=["smb"], tool=["cp"], client_sync=["fsync", "close"])
    assert done.returncode == 0, done.stdout + done.stderr
    for trial in bench.trials():
        assert trial["effective"]["flushed"] == {"fsync": "fsync", "close": "none"}[trial["options"]["client_sync"]]
        flush_s = trial["observed"].get("flush_s")
        assert flush_s is None if trial["options"]["client_sync"] == "close" else 0 < flush_s < trial["elapsed_s"]
        assert trial["effective"].get("server_cache") == ("warm" if trial["direction"] == "read" else None)
