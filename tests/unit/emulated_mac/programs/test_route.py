"""What route of an emulated Mac prints, against what real ones printed."""

import re

import pytest
from support.emulated_programs import Run, capture, show_card

from emulated_mac import interfaces
from emulated_mac.programs import route


@pytest.mark.parametrize(
    ("version", "target", "file"),
    [
        ("26", "127.0.0.1", "route-loopback-26.6.2.txt"),
        ("26", "192.168.64.1", "route-on-link-26.6.2.txt"),
        ("26", "192.168.64.3", "route-self-26.6.2.txt"),
    ],
)
def test_route_says_what_a_mac_said(
    mac: Run, monkeypatch: pytest.MonkeyPatch, version: str, target: str, file: str
) -> None:
    show_card(monkeypatch, route, address=interfaces.Address(0xC0A84003, 0xFFFFFF00))
    code, printed, _ = mac(version, "route", "-n", "get", target)

    def without_expiry(text: str) -> str:
        return re.sub(r" +-?\d+ $", "", text.replace(",ROUTER", ""), flags=re.MULTILINE).rstrip()

    assert code == 0
    assert without_expiry(printed) == without_expiry(capture(file))


def test_route_names_no_interface_where_there_is_no_route(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, route)
    code, printed, error = mac("10.6", "route", "-n", "get", "203.0.113.7")
    assert (code, printed, error) == (0, "", "route: writing to routing socket: not in table\n")
