"""What keeps a transfer from counting: bytes that did not cross the data interface, an outage, starts far apart."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.emulated_shares import Pair
from support.parts import case_of, part_of, setup_of

from lab.base.errors import HostLost
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms import Counters
from lab.platforms.timing import Moved
from lab.protocols import Driver
from lab.protocols.driver import Side
from lab.protocols.smb.macos import MacSmb
from lab.results.together import ClientPart, Together
from lab.run.transfer.proof import describe_others, describe_skew, not_cold, not_on_the_wire
from lab.run.transfer.result import describe_outage

SIZE = 1_000_000


class Lost(Driver):
    def find_channels(self, client: Side, path: str) -> Mapping[str, str]:
        raise HostLost("the connection was lost", host="client")


@pytest.fixture
def shares(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


def proof(
    shares: Pair, driver: Driver, moved: int, direction: Direction = Direction.WRITE, on: str = "en15", **options: str
) -> str:
    case = case_of(direction, size_bytes=SIZE, **{f"smb.{name}": level for name, level in options.items()})
    sent, received = (moved, 0) if direction is Direction.WRITE else (0, moved)
    counted = Counters(sent, received, None, None, {}, others={"en6": Moved(SIZE - 7, 9), "en7": Moved(SIZE, SIZE)})
    pair: Any = SimpleNamespace(sides=shares.sides, interface=lambda role: on)
    return not_on_the_wire(part_of(pair, case, setup_of("/mnt", driver=driver)), case, counted)


@pytest.mark.parametrize("direction", Direction)
def test_what_crossed_the_wire_is_proven_and_what_did_not_was_cached(shares: Pair, direction: Direction) -> None:
    assert proof(shares, Driver(), SIZE, direction) == ""
    why = f"only {SIZE - 1} of {SIZE} bytes crossed the client's interface en15: something was cached"
    assert proof(shares, Driver(), SIZE - 1, direction) == why
    assert proof(shares, Lost(), SIZE - 1, direction) == why


def test_another_interface_that_all_bytes_crossed_is_named(shares: Pair) -> None:
    why = "they crossed en7: the way to the server is another one than before"
    assert proof(shares, Driver(), 7).endswith(f"crossed the client's interface en15: {why}")


def test_smb_of_a_mac_tells_over_which_other_interfaces_it_sent(shares: Pair) -> None:
    why = f"it used en6 (Ethernet, {SIZE - 7} bytes), too: give smb.multichannel = [false] in the sweep"
    assert proof(shares, MacSmb(), 7, multichannel="default").endswith(f"crossed the client's interface en15: {why}")
    both = f"(Ethernet, {SIZE - 7} bytes) and en15 (Ethernet, unknown bytes), too"
    assert both in proof(shares, MacSmb(), 7, on="en5")


def test_several_channels_that_were_asked_for_may_carry_it_together(shares: Pair) -> None:
    assert proof(shares, MacSmb(), 7, multichannel="true") == ""
    assert f"only 6 of {SIZE} bytes" in proof(shares, MacSmb(), 6, multichannel="true")
    assert proof(shares, MacSmb(), SIZE - 10, Direction.READ, multichannel="true") != ""


def test_what_crossed_other_interfaces_is_noted_where_it_was_much() -> None:
    case = case_of(size_bytes=SIZE)
    others = {"en0": Moved(SIZE // 100, 5), "en1": Moved(SIZE // 101, SIZE // 101)}
    noted = dict(describe_others(Role.SERVER, case, Counters(SIZE, 0, None, None, others=others)))
    assert noted == {"server_other_interfaces": f"en0: {SIZE // 100} bytes sent, 5 received"}
    assert dict(describe_others(Role.CLIENT, case, Counters(SIZE, 0, None, None))) == {}


@pytest.mark.parametrize(("protocol", "of_a_file"), [("smb", 120), ("nfs", 28), ("afp", 16), ("ssh", 3)])
def test_what_is_sent_for_each_file_does_not_stand_for_cached_ones(shares: Pair, protocol: str, of_a_file: int) -> None:
    case = case_of(protocol=protocol, tool="rsync", workload="tree mail", size_bytes=SIZE, files=1000)
    part = part_of(SimpleNamespace(sides=shares.sides, interface=lambda role: "en0"), case)
    least = SIZE + 1000 * of_a_file
    assert not_on_the_wire(part, case, Counters(least, 0, None, None)) == ""
    why = f"only {least - 1} of {least} bytes crossed the client's interface en0: something was cached"
    assert not_on_the_wire(part, case, Counters(least - 1, 0, None, None)) == why


def test_a_transfer_during_which_a_link_went_down_does_not_count() -> None:
    assert describe_outage({"client": 0, "server": 2}) == "an outage: 2 carrier changes on the server"
    both = "an outage: 2 carrier changes on the client, 2 carrier changes on the server"
    assert describe_outage({"client": 2, "server": 2}) == both
    assert [describe_outage({"client": 0, "server": unknown}) for unknown in (0, None)] == ["", ""]


def test_a_cold_read_is_proven_by_the_servers_disks() -> None:
    cold = case_of("read", store="disk", size_bytes=SIZE, server_cache="cold")
    assert not_cold(cold, SIZE) == ""
    assert "its cache was not cold" in not_cold(cold, SIZE - 1)
    assert "nothing proves" in not_cold(cold, None)
    for other in (case_of("read", server_cache="warm"), case_of("write", server_cache="cold")):
        assert not_cold(other, 0) == ""


@pytest.mark.parametrize(
    ("skew_s", "bound_s", "times_s", "void"),
    [
        (0.01, 0.001, (1.0, 1.0), False),
        (0.049, 0.002, (1.0, 1.0), True),  # more than 50 ms are possible, and 1 % of a second is less
        (0.049, 0.002, (10.0, 9.0), False),  # 1 % of the shortest
        (0.2, 0.0, (10.0, 9.0), True),
        (0.0, 0.3, (2.0, 2.0), True),  # not known well enough
    ],
)
def test_starts_too_far_apart_are_void(skew_s: float, bound_s: float, times_s: tuple[float, ...], void: bool) -> None:
    parts = tuple(
        ClientPart(name=f"client.{number}", started_s=0.0 if number else skew_s, ended_s=seconds + skew_s)
        for number, seconds in enumerate(times_s)
    )
    why = describe_skew(Together(clients=parts, skew_s=skew_s, skew_bound_s=bound_s))
    assert why.startswith("the clients did not start together: client.0 started") is bool(why) is void
