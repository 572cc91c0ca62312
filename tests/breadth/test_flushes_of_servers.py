"""How often a server flushes at each level, as strace sees it."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from scenarios.test_durability_of_servers import test_each_level_is_what_the_server_that_runs_is_at as check_levels
from support.local_lab import Bench
from support.server_processes import PROGRAM, during_a_run

WRITE: dict[str, Any] = {"tool": ["cp"], "direction": ["write"], "store": ["disk"], "size": "4 MiB"}


def test_each_level_of_afp_is_what_its_server_is_at(bench: Bench) -> None:
    check_levels(bench, ["afp"], ["default", "async", "sync"])


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
