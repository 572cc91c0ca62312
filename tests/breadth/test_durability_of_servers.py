"""Real servers at every level of durability, and reads from memory and from the disk: by what they do, not how fast."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import Bench

from lab.local import state

WRITE: dict[str, Any] = {"tool": ["cp"], "direction": ["write"], "store": ["disk"], "size": "4 MiB"}
PROGRAM = {"nfs": "ganesha.nfsd", "smb": "smbd", "afp": "afpd"}


def running(bench: Bench, program: str) -> list[str]:
    """The processes of this name on the bench's server, as this machine numbers them."""
    lab = state.load(bench.name)
    assert lab is not None
    argv = ["pgrep", "--ns", str(lab.hosts["server"].pid), "--nslist", "pid", "-x", program]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split()


def during_a_run(bench: Bench, program: str, look: Callable[[list[str]], Any], **factors: Any) -> Any:
    """What ``look`` returns, called with the server's processes as soon as there are any; the run must end well."""
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(**factors))) as run:
        while not (found := running(bench, program)):
            assert run.poll() is None, run.communicate()
            time.sleep(0.01)
        seen = look(found)
        output, _ = run.communicate(timeout=120)
    assert run.returncode == 0, output
    return seen


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


def bytes_read(found: list[str]) -> int:
    """Bytes that a server of one process got from disks, from when it was found to its end."""
    path, last = Path(f"/proc/{found[0]}/io"), 0
    while True:
        try:
            last = int(re.findall(r"^read_bytes: (\d+)$", path.read_text(), re.MULTILINE)[0])
        except (OSError, IndexError):
            return last
        time.sleep(0.01)


def test_a_cold_server_reads_from_its_disk_and_a_warm_one_does_not(bench: Bench) -> None:
    read = {"protocol": ["nfs"], "tool": ["cp"], "direction": ["read"], "store": ["disk"], "size": "32 MiB"}
    from_disk = {}
    for level in ("cold", "warm"):
        from_disk[level] = during_a_run(bench, PROGRAM["nfs"], bytes_read, server_cache=[level], **read)
        (trial,) = bench.trials()
        assert trial["effective"]["server_cache"] == level
        log = (bench.newest() / "commands.log").read_text().splitlines()
        # by the log as well: dropping the client's caches drops the server's here, where both share one kernel; once
        # they are dropped to measure the store by itself
        assert sum(" server " in line and "drop_caches" in line for line in log) == 1 + (level == "cold")
    assert from_disk["cold"] >= 32 * 2**20
    assert from_disk["warm"] < 16 * 2**20  # its own program, whose pages were dropped as well, is about 3 MB


def test_without_a_flush_the_time_ends_with_the_tool(bench: Bench) -> None:
    done = bench.run(protocol=["smb"], tool=["cp"], client_sync=["fsync", "close"])
    assert done.returncode == 0, done.stdout + done.stderr
    for trial in bench.trials():
        assert trial["effective"]["flushed"] == {"fsync": "fsync", "close": "none"}[trial["options"]["client_sync"]]
        flush_s = trial["observed"].get("flush_s")
        assert flush_s is None if trial["options"]["client_sync"] == "close" else 0 < flush_s < trial["elapsed_s"]
        assert trial["effective"].get("server_cache") == ("warm" if trial["direction"] == "read" else None)
