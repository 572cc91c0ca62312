"""A cold server reads from its disk. The page cache is shared, so nothing else may run on the machine."""

import re
import time
from pathlib import Path

from support.local_lab import Bench
from support.served_shares import PROGRAM, during_a_run


def bytes_read(found: list[str]) -> int:
    """The bytes that a server of one process reads from disks until it ends."""
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
        # check the log, too, because both hosts share one kernel and its caches; one drop is for the store's ceiling
        assert sum(" server " in line and "drop_caches" in line for line in log) == 1 + (level == "cold")
    assert from_disk["cold"] >= 32 * 2**20
    assert from_disk["warm"] < 16 * 2**20  # the program itself has about 3 MB
