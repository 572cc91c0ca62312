"""Macs restore themselves. This test waits for leases, so it has a file that a second worker can run."""

from scenarios import test_hosts_left_alone as left_alone
from support.again import again
from support.killed_runs import MACS

test_macs_restore_themselves = again(
    left_alone.test_hosts_restore_themselves_after_their_controller_was_killed,
    "platforms, protocols",
    (MACS, ["smb", "nfs"]),
)
