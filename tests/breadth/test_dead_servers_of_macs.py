"""Servers that are cut off, by NFS and from Macs."""

from collections.abc import Callable

import pytest
from scenarios.test_dead_servers import test_a_server_that_is_cut_off_costs_one_trial_and_little_time as cut_off
from support.local_lab import Bench


@pytest.mark.parametrize(
    ("platform", "protocol", "direction", "program"),
    [
        ("client=linux", "nfs", "read", "ganesha"),
        ("client=macos@15.5", "nfs", "write", "ganesha"),
        ("client=macos@15.5", "smb", "write", "smbd"),
    ],
)
def test_it_costs_one_trial_and_little_time(
    new_bench: Callable[..., Bench], platform: str, protocol: str, direction: str, program: str
) -> None:
    cut_off(new_bench, platform, protocol, direction, program)
