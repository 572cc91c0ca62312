"""Runs with pools that are broken at a command of ZFS: whatever ended them, `lab restore` leaves nothing behind.

The fault matrix sees the hosts of one kernel only, and that of the tests has no ZFS.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from support.guests import left_but_for_zfs
from support.local_lab import Bench
from support.paths import TESTS

pytestmark = pytest.mark.guests

FACTORS: dict[str, Any] = {
    "protocol": ["nfs"], "tool": ["cp"], "direction": ["read"], "store": ["zfs"], "server_cache": ["cold"],
    "zfs.disks": ["512e"], "blocks": 1, "size": "8 MiB",
}  # fmt: skip
OF_DISKS = "ls -d /dev/file-share-lab-* /sys/block/loop*/loop/backing_file /sys/module/zfs 2>/dev/null || :"


@pytest.mark.parametrize(
    ("words", "kind", "when"),
    [
        ("modprobe zfs", "SIGKILL", "after"),
        ("zpool create", "error", "after"),
        ("zpool create", "lost", "after"),
        ("zpool create", "SIGKILL", "after"),
    ],
)
def test_a_run_that_is_broken_at_a_command_of_zfs_leaves_nothing(
    with_zfs: Bench, words: str, kind: str, when: str
) -> None:
    before = left_but_for_zfs(with_zfs)
    run = ["run", "--hosts", str(with_zfs.hosts), str(with_zfs.sweep(**FACTORS))]
    environment = os.environ | with_zfs.environment | {"PYTHONPATH": f"{TESTS}:{TESTS.parent}"}
    broken = subprocess.run(
        [sys.executable, "-m", "support.broken_run", with_zfs.name, words, kind, when, *run],
        cwd=with_zfs.directory, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    said = broken.stdout + broken.stderr
    assert (f"struck at {words}" in said, "Traceback" in said) == (True, False), said
    assert broken.returncode != 0 or kind != "SIGKILL", said
    if kind == "SIGKILL":
        with_zfs.wait_until_free()
    restored = with_zfs.lab("restore", "--hosts", str(with_zfs.hosts))
    assert restored.returncode == 0, said + restored.stdout + restored.stderr
    assert left_but_for_zfs(with_zfs) == before, said
    assert with_zfs.inside("server", OF_DISKS) == ""
