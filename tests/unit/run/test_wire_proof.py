"""A transfer whose bytes did not all cross the data interface is none, and the reason says where else they went."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.emulated_shares import Pair

from lab.base.errors import HostLost
from lab.design.case import Case
from lab.design.factors import Direction
from lab.platforms import Counters
from lab.protocols import Driver
from lab.protocols.share import Side
from lab.protocols.smb.macos import MacSmb
from lab.run.wire_proof import not_on_the_wire

SIZE = 1_000_000


class Lost(Driver):
    def explain_missing_bytes(self, client: Side, path: str, interface: str) -> str:
        raise HostLost("the connection was lost", host="client")


@pytest.fixture
def shares(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


def proof(shares: Pair, driver: Driver, moved: int, direction: Direction = Direction.WRITE, on: str = "en15") -> str:
    case = Case("smb", "cp", direction, 1500, "default", "ram", "file", SIZE)
    sent, received = (moved, 0) if direction is Direction.WRITE else (0, moved)
    counted = Counters(sent, received, None, None, {})
    pair: Any = SimpleNamespace(sides=shares.sides, interface=lambda role: on)
    return not_on_the_wire(pair, driver, "/mnt", case, counted)


@pytest.mark.parametrize("direction", Direction)
def test_what_crossed_the_wire_is_proven_and_what_did_not_was_cached(shares: Pair, direction: Direction) -> None:
    assert proof(shares, Driver(), SIZE, direction) == ""
    why = f"only {SIZE - 1} of {SIZE} bytes crossed the client's interface en15: something was cached"
    assert proof(shares, Driver(), SIZE - 1, direction) == why
    assert proof(shares, Lost(), SIZE - 1, direction) == why


def test_smb_of_a_mac_tells_over_which_other_interfaces_it_sent(shares: Pair) -> None:
    why = proof(shares, MacSmb(), SIZE // 2)
    assert "bytes crossed the client's interface en15: SMB used en6 (Ethernet), too: a line mc_on=no below" in why
    assert "SMB used en6 (Ethernet) and en15 (Ethernet), too" in proof(shares, MacSmb(), SIZE // 2, on="en5")
