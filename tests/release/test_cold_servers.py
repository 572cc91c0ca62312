"""A cold server reads from its disk, on a machine with nothing beside it: the page cache is that of all."""

import re
import time
from pathlib import Path

from support.local_lab import Bench
from support.server_processes import PROGRAM, during_a_run


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
