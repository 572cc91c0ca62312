"""What the devices of a store moved for a transfer, and what that proves."""

import pytest
from support.fake_host import FakeHost
from support.pairs import pair_of
from support.parts import case_of

from lab.base.errors import LabFailure
from lab.hosts.command import command
from lab.results.observed import Observed
from lab.run.case.made_store import MadeStore
from lab.run.transfer.store_moved import add_moved, count_moved, find_fault, not_from_devices
from lab.stores import DeviceBytes

COUNT, FAULT = command("count"), command("look")
PLAIN = MadeStore("ext4", {}, 1000)
COUNTED = MadeStore("zfs", {}, 1000, count=COUNT, find_fault=FAULT)


@pytest.fixture
def host() -> FakeHost:
    return FakeHost("server")


def test_a_store_that_counts_is_asked_and_others_are_not(host: FakeHost) -> None:
    host.on(COUNT, "read_bytes\t1\nwrite_bytes\t2\n")
    pair = pair_of(hosts={"server": host})
    assert count_moved(pair, COUNTED) == DeviceBytes(1, 2)
    assert count_moved(pair, PLAIN) is count_moved(pair, None) is None


def test_a_count_that_cannot_be_read_is_an_error_with_its_command(host: FakeHost) -> None:
    host.on(COUNT, "read_bytes\tmany\n")
    with pytest.raises(LabFailure, match="server: count printed what it should not: 'many' is not a count"):
        count_moved(pair_of(hosts={"server": host}), COUNTED)


def test_what_is_observed_is_what_came_meanwhile() -> None:
    observed = add_moved(Observed(), COUNTED, DeviceBytes(1, 20), DeviceBytes(5, 100))
    assert (observed.store_capacity_bytes, observed.store_read_bytes, observed.store_written_bytes) == (1000, 4, 80)
    assert add_moved(Observed(), PLAIN, None, None) == Observed(store_capacity_bytes=1000)
    assert add_moved(Observed(), None, None, None) == Observed()


def test_a_cold_read_that_did_not_come_from_the_devices_does_not_count() -> None:
    cold, half = case_of("read", store="zfs", size_bytes=100, server_cache="cold"), Observed(store_read_bytes=50)
    assert not_from_devices(cold, half).startswith("only 50 of 100 bytes were read from the devices of store zfs")
    assert not_from_devices(cold, Observed(store_read_bytes=100)) == ""
    assert not_from_devices(cold, Observed()) == "", "where nothing counts it, the disks below tell"
    for other in (cold.with_option("server_cache", "warm"), case_of(store="zfs", size_bytes=100, server_cache="cold")):
        assert not_from_devices(other, half) == ""


def test_a_fault_is_one_line_and_a_host_that_cannot_tell_has_none(host: FakeHost) -> None:
    lost = "the device /dev/sdb is gone; the pool x is DEGRADED"
    host.on(FAULT, f"{lost}\n")
    host.on(FAULT, "the pool x is SUSPENDED\nmore\n")
    host.on(FAULT, exit_code=1)
    pair = pair_of(hosts={"server": host})
    assert [find_fault(pair, COUNTED) for _ in range(3)] == [lost, "the pool x is SUSPENDED", ""]
    assert find_fault(pair, PLAIN) == ""
