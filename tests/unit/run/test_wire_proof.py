"""A transfer whose bytes did not all cross the data interface is none, and the reason says where else they went."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.emulated_shares import Pair

from lab.base.errors import HostLost
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms import Counters
from lab.platforms.timing import Moved
from lab.protocols import Driver
from lab.protocols.share import Side
from lab.protocols.smb.macos import MacSmb
from lab.run.transfer.proof import describe_others, not_on_the_wire

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
    asked = tuple((f"smb.{name}", level) for name, level in options.items())
    case = Case("smb", "cp", direction, 1500, "default", "ram", "file", SIZE, asked)
    sent, received = (moved, 0) if direction is Direction.WRITE else (0, moved)
    counted = Counters(sent, received, None, None, {}, others={"en6": Moved(SIZE - 7, 9), "en7": Moved(SIZE, SIZE)})
    pair: Any = SimpleNamespace(sides=shares.sides, interface=lambda role: on)
    return not_on_the_wire(pair, driver, "/mnt", case, counted)


@pytest.mark.parametrize("direction", Direction)
def test_what_crossed_the_wire_is_proven_and_what_did_not_was_cached(shares: Pair, direction: Direction) -> None:
    assert proof(shares, Driver(), SIZE, direction) == ""
    why = f"only {SIZE - 1} of {SIZE} bytes crossed the client's interface en15: something was cached"
    assert proof(shares, Driver(), SIZE - 1, direction) == why
    assert proof(shares, Lost(), SIZE - 1, direction) == why


def test_another_way_to_the_server_is_told_where_all_of_it_went_there(shares: Pair) -> None:
    why = "they crossed en7: the way to the server is another one than before"
    assert proof(shares, Driver(), 7).endswith(f"crossed the client's interface en15: {why}")


def test_smb_of_a_mac_tells_over_which_other_interfaces_it_sent(shares: Pair) -> None:
    why = f"it used en6 (Ethernet, {SIZE - 7} bytes), too: give smb.multichannel = [false] in the sweep"
    assert proof(shares, MacSmb(), 7, multichannel="default").endswith(f"crossed the client's interface en15: {why}")
    assert f"(Ethernet, {SIZE - 7} bytes) and en15 (Ethernet, unknown bytes), too" in proof(
        shares, MacSmb(), 7, on="en5"
    )


def test_several_channels_that_were_asked_for_may_carry_it_together(shares: Pair) -> None:
    assert proof(shares, MacSmb(), 7, multichannel="true") == ""
    assert f"only 6 of {SIZE} bytes" in proof(shares, MacSmb(), 6, multichannel="true")
    assert proof(shares, MacSmb(), SIZE - 10, Direction.READ, multichannel="true") != ""


def test_what_crossed_other_interfaces_is_noted_where_it_was_much() -> None:
    case = Case("smb", "cp", Direction.WRITE, 1500, "default", "ram", "file", SIZE)
    others = {"en0": Moved(SIZE // 100, 5), "en1": Moved(SIZE // 101, SIZE // 101)}
    told = dict(describe_others(Role.SERVER, case, Counters(SIZE, 0, None, None, others=others)))
    assert told == {"server_other_interfaces": f"en0: {SIZE // 100} bytes sent, 5 received"}
    assert dict(describe_others(Role.CLIENT, case, Counters(SIZE, 0, None, None))) == {}


@pytest.mark.parametrize(("protocol", "of_a_file"), [("smb", 120), ("nfs", 28), ("afp", 16), ("ssh", 3)])
def test_what_a_protocol_sends_for_each_file_does_not_stand_for_cached_ones(
    shares: Pair, protocol: str, of_a_file: int
) -> None:
    case = Case(protocol, "rsync", Direction.WRITE, 1500, "default", "ram", "tree mail", SIZE, files=1000)
    pair: Any = SimpleNamespace(sides=shares.sides, interface=lambda role: "en0")
    least = SIZE + 1000 * of_a_file
    verdicts = [
        not_on_the_wire(pair, Driver(), "/mnt", case, Counters(moved, 0, None, None, {}))
        for moved in (least, least - 1)
    ]
    assert verdicts == [
        "",
        f"only {least - 1} of {least} bytes crossed the client's interface en0: something was cached",
    ]
