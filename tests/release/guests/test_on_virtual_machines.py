"""The tests of User Mode Linux guests on virtual machines, and tests that only virtual machines can run."""

from typing import Any

import pytest
from breadth.guests.test_attackers_in_guests import *  # noqa: F403
from breadth.guests.test_guests import *  # noqa: F403
from breadth.guests.test_guests import test_a_mount_whose_server_is_gone_is_forced_off as mount_comes_off
from breadth.guests.test_guests import test_what_a_killed_controller_left_in_a_kernel_is_restored as put_back
from breadth.guests.test_narrow_sudo_in_guests import *  # noqa: F403
from breadth.guests.test_several_guests import *  # noqa: F403
from support.local_lab import Bench


def test_threads_of_a_kernels_server_are_put_back(guests: Bench) -> None:
    put_back(guests, "rpc.nfsd --host")


@pytest.mark.parametrize(("protocol", "options"), [("nfs", {"nfs.hard": [True], "nfs.version": [3]}), ("smb", {})])
def test_other_mounts_whose_server_is_gone_come_off(guests: Bench, protocol: str, options: dict[str, Any]) -> None:
    mount_comes_off(guests, protocol, options)
