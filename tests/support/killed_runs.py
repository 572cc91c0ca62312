"""A run whose controller was killed, and another controller that may know of it."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.local_lab import Bench, end

SMALL: dict[str, Any] = {"protocol": ["smb"], "tool": ["cp"], "mtu": [9000], "tcp_space": ["64 KiB"], "blocks": 3}

HOST_JOURNALS = "ls -d /var/tmp/file-share-lab* /var/lib/file-share-lab* 2>/dev/null; :"


@pytest.fixture
def killed(bench: Bench) -> Iterator[Path]:
    """A run folder of ours, whose controller was killed in the middle; both hosts are put back at the end."""
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(**SMALL))) as run:
        bench.wait_for('"b001-0001"', run)
        end(run, signal.SIGKILL)
    bench.wait_until_free()
    yield bench.newest()
    bench.lab("restore", "--hosts", str(bench.hosts))


def elsewhere(bench: Bench, folder: Path, same_account: bool) -> Bench:
    """The same local lab, used from another folder, by the same account or by another."""
    other = Bench(bench.name, folder)
    other.hosts = bench.hosts
    if same_account:
        other.environment = bench.environment
    return other
