"""What netstat of an emulated Mac prints, against what real ones printed."""

import pytest
from support.emulated_programs import Run, capture, show_card

from emulated_mac import interfaces
from emulated_mac.programs import netstat


def test_netstat_lines_up_as_on_a_mac(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the row of the loopback interface, whose address is empty, and the short names of 10.6."""
    counted = [27949362788, 21869567, 0, 0, 0, 0, 0, 0, 29723901148, 22461432, 0, 0, 0, 0]
    monkeypatch.setattr(netstat, "counters", lambda name: interfaces.Counters(counted))
    show_card(
        monkeypatch, netstat, index=14, mac="02:00:00:00:00:01", address=interfaces.Address(0x0A0AFB1B, 0xFFFFFF00)
    )
    printed = mac("15.5", "netstat", "-I", "en0", "-b")[1]
    assert printed.splitlines()[0] == capture("netstat-en0.txt").splitlines()[0]
    assert [line.split() for line in printed.splitlines()] == [
        line.split() for line in capture("netstat-en0.txt").splitlines()
    ]
    totals = [601295906, 1758927, 0, 0, 0, 0, 0, 0, 601295906, 1758927, 0, 0, 0, 0]
    monkeypatch.setattr(netstat, "counters", lambda name: interfaces.Counters(totals))
    old = mac("10.6", "netstat", "-I", "lo0", "-b")[1].splitlines()
    assert [line.split() for line in old] == [
        line.split() for line in capture("netstat-lo0-short-names.txt").splitlines()[:4]
    ]
    assert old[0] == capture("netstat-lo0-short-names.txt").splitlines()[0]
