"""The link by itself: once a block and network, in both directions."""

from __future__ import annotations

from support.synthetic_runs import trial

from lab.design.blocks import Slot
from lab.design.case import Case
from lab.design.factors import Direction
from lab.run import link_ceiling


def case(protocol: str, mtu: int) -> Case:
    return Case(protocol, "cp", Direction.READ, mtu, 65536, "ram", "file", 4096)


def test_cases_on_one_network_share_their_ceilings_within_a_block() -> None:
    first = link_ceiling.ids(Slot(2, 1, case("smb", 1500)))
    assert first == {"write": "b002-link-mtu1500-tcp65536-write", "read": "b002-link-mtu1500-tcp65536-read"}
    assert link_ceiling.ids(Slot(2, 7, case("nfs", 1500))) == first
    assert not set(link_ceiling.ids(Slot(2, 7, case("smb", 9000))).values()) & set(first.values())
    assert not set(link_ceiling.ids(Slot(3, 1, case("smb", 1500))).values()) & set(first.values())


def test_only_a_good_measurement_has_a_rate() -> None:
    assert link_ceiling.rate(trial(protocol="link", size_bytes=1000, elapsed_s=0.5)) == 2000
    assert link_ceiling.rate(trial(protocol="link", size_bytes=1000, elapsed_s=0.5, status="failed")) is None
    assert link_ceiling.rate(None) is None
