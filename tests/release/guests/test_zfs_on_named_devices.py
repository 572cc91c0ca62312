"""The store zfs on disks that the user named, whole or in partitions: made as asked, and returned with zeros."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.guests import left_but_for_zfs, wait_for_a_pool
from support.local_lab import Bench, end

LEVELS: dict[str, Any] = {"zfs.raid": ["raidz"], "zfs.disks": ["named", "partitions"]}
ON_DISKS: dict[str, Any] = {"protocol": ["nfs"], "tool": ["cp"], "direction": ["write"], "store": ["zfs"], **LEVELS}
ADD = """
modprobe loop && mkdir /var/tmp/disks && for number in 1 2 3; do
    truncate -s 600M "/var/tmp/disks/$number" && losetup --partscan --find --show "/var/tmp/disks/$number" || exit
done
"""
REMOVE = "losetup --detach-all && rm -r /var/tmp/disks && rmmod loop"
ENDS = 'for file in /var/tmp/disks/*; do head -c 2M "$file"; tail -c 2M "$file"; done | tr -d "\\000" | wc -c'
LEFT = "ls -d /dev/file-share-lab-* /sys/block/loop*/loop*/partition 2>/dev/null || :"


@pytest.fixture
def disks(with_zfs: Bench) -> Iterator[list[str]]:
    """Three empty disks of the server: loop devices with partitions."""
    yield with_zfs.inside("server", ADD).split()
    with_zfs.inside("server", REMOVE)


def hosts_with(bench: Bench, disks: list[str]) -> Path:
    return bench.changed_hosts(share_image_size="900 MiB", share_devices=" ".join(disks))


def words(disks: list[str]) -> list[str]:
    return [word for disk in disks for word in ("--write-to", disk)]


def test_pools_are_made_on_disks_and_on_partitions_and_the_disks_are_given_back(
    with_zfs: Bench, disks: list[str]
) -> None:
    before = left_but_for_zfs(with_zfs)
    measured = with_zfs.measure(*words(disks), hosts=hosts_with(with_zfs, disks), **ON_DISKS)
    trials = {trial["effective"]["zfs.disks"]: trial for trial in measured}
    assert trials.keys() == {"named", "partitions"}
    for level, trial in trials.items():
        assert (trial["status"], trial["options"]["zfs.disks"]) == ("ok", level), trial["reason"]
        assert trial["effective"]["server_store"].endswith(f"; on {' '.join(disks)}")
        assert trial["observed"]["store_written_bytes"] > trial["size_bytes"]
    assert with_zfs.inside("server", ENDS).strip() == "0"
    assert with_zfs.inside("server", LEFT) == ""
    assert left_but_for_zfs(with_zfs) == before


@pytest.mark.parametrize("level", LEVELS["zfs.disks"])
def test_after_a_controller_that_was_killed_the_disks_are_given_back(
    with_zfs: Bench, disks: list[str], level: str
) -> None:
    before, hosts = left_but_for_zfs(with_zfs), hosts_with(with_zfs, disks)
    factors = ON_DISKS | {"zfs.disks": [level], "size": "64 MiB"}
    with with_zfs.started_run(*words(disks), hosts=hosts, **factors) as run:
        wait_for_a_pool(with_zfs, run)
        end(run, signal.SIGKILL)
    assert with_zfs.inside("server", ENDS).strip() != "0"
    with_zfs.wait_until_free()
    with_zfs.check_output("restore", "--hosts", str(hosts))
    assert with_zfs.inside("server", ENDS).strip() == "0"
    assert with_zfs.inside("server", LEFT) == ""
    assert left_but_for_zfs(with_zfs) == before
