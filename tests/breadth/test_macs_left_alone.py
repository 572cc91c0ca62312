"""Macs put themselves back. It waits for leases, so it is a file that a second worker can run."""

from collections.abc import Callable

from scenarios.test_hosts_left_alone import check_that_hosts_put_themselves_back
from support.leases import MACS
from support.local_lab import Bench


def test_macs_put_themselves_back(new_bench: Callable[..., Bench]) -> None:
    check_that_hosts_put_themselves_back(new_bench("--rate", "200mbit", *MACS), "smb", "nfs")
