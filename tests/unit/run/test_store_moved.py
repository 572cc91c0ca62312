"""What the devices of a store moved for a transfer, and what that proves."""

import pytest
from support.fake_host import FakeHost
from support.pairs import pair_of

from lab.base.errors import LabFailure
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts.command import command
from lab.results.observed import Observed
from lab.run.case.made_store import MadeStore
from lab.run.transfer.store_moved import add_moved, count_moved, find_fault, not_from_devices
from lab.stores import DeviceBytes

COUNT, FAULT = command("count"), command("look")
PLAIN = MadeStore("ext4", {}, 1000)
COUNTED = MadeStore("zfs", {}, 1000, count=COUNT, find_fault=FAULT)


def case(direction: Direction, server_cache: str) -> Case:
    return Case("nfs", "cp", direction, 1500, "default", "zfs", "file", 100, (("server_cache", server_cache),))


def test_a_store_that_counts_is_asked_and_others_are_not() -> None:
    host = FakeHost("server")
    host.on(COUNT, "read_bytes\t1\nwrite_bytes\t2\n")
    pair = pair_of(hosts={"server": host})
    assert count_moved(pair, COUNTED) == DeviceBytes(1, 2)
    assert count_moved(pair, PLAIN) is count_moved(pair, None) is None


def test_a_count_that_is_none_is_told_with_its_command() -> None:
    host = FakeHost("server")
    host.on(COUNT, "read_bytes\tmany\n")
    with pytest.raises(LabFailure, match="server: count printed what it should not: 'many' is not a count"):
        count_moved(pair_of(hosts={"server": host}), COUNTED)


def test_what_is_observed_is_what_came_meanwhile() -> None:
    told = add_moved(Observed(), COUNTED, DeviceBytes(1, 20), DeviceBytes(5, 100))
    assert (told.store_capacity_bytes, told.store_read_bytes, told.store_written_bytes) == (1000, 4, 80)
    assert add_moved(Observed(), PLAIN, None, None) == Observed(store_capacity_bytes=1000)
    assert add_moved(Observed(), None, None, None) == Observed()


def test_a_cold_read_that_did_not_come_from_the_devices_is_told() -> None:
    half = Observed(store_read_bytes=50)

    def void(direction: Direction, server_cache: str, observed: Observed) -> str:
        return not_from_devices(case(direction, server_cache), observed)

    told = void(Direction.READ, "cold", half)
    assert told.startswith("only 50 of 100 bytes were read from the devices of store zfs")
    assert void(Direction.READ, "cold", Observed(store_read_bytes=100)) == ""
    assert void(Direction.READ, "cold", Observed()) == "", "where nothing counts it, the disks below tell"
    assert void(Direction.READ, "warm", half) == void(Direction.WRITE, "cold", half) == ""


def test_what_a_store_moved_that_has_lost_a_disk_does_not_count() -> None:
    host = FakeHost("server")
    host.on(FAULT, "the device /dev/sdb is gone; the pool x is DEGRADED\n")
    told = find_fault(pair_of(hosts={"server": host}), COUNTED)
    assert told == "the device /dev/sdb is gone; the pool x is DEGRADED"


def test_a_fault_is_one_line_and_a_host_that_cannot_tell_has_none() -> None:
    host = FakeHost("server")
    host.on(FAULT, "the pool x is SUSPENDED\nmore\n")
    host.on(FAULT, exit_code=1)
    pair = pair_of(hosts={"server": host})
    assert find_fault(pair, COUNTED) == "the pool x is SUSPENDED"
    assert find_fault(pair, COUNTED) == find_fault(pair, PLAIN) == ""
