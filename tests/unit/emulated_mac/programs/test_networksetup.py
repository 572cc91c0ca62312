"""What networksetup of an emulated Mac prints of services and their addresses, against public outputs."""

from typing import Any

import pytest
from support.emulated_programs import Run, show_card

from emulated_mac.programs import networksetup

ORDER = """\
An asterisk (*) denotes that a network service is disabled.
(1) Ethernet
(Hardware Port: Ethernet, Device: en0)

"""
MANUAL = """\
Manual Configuration
IP address: 10.254.100.2
Subnet mask: 255.255.0.0
Router: none
IPv6: Automatic
IPv6 IP address: none
IPv6 Router: none
Ethernet Address: d0:11:e5:96:31:35
"""
NOT_A_SERVICE = "en0 is not a recognized network service.\n** Error: The parameters were not valid.\n"
NOT_VALID = "** Error: The parameters were not valid.\n"


def test_services_are_listed_with_their_devices(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, networksetup)
    assert mac("15.5", "networksetup", "-listnetworkserviceorder") == (0, ORDER, "")


def test_a_service_says_where_its_address_is_from(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, networksetup)
    assert mac("15.5", "networksetup", "-getinfo", "Ethernet", answers={"is_manual": True}) == (0, MANUAL, "")
    leased = MANUAL.replace("Manual", "DHCP").replace("IPv6: A", "Client ID: \nIPv6: A")
    assert mac("15.5", "networksetup", "-getinfo", "Ethernet", answers={"is_manual": False}) == (0, leased, "")
    show_card(monkeypatch, networksetup, address=None)
    code, printed, _ = mac("15.5", "networksetup", "-getinfo", "Ethernet", answers={"is_manual": False})
    assert (code, printed.splitlines()[:3]) == (0, ["DHCP Configuration", "Client ID: ", "IPv6: Automatic"])


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("-setmanual", "Ethernet", "192.168.77.1", "255.255.255.0"), 0, ""),
        (("-setManual", "Ethernet", "192.168.77.1", "255.255.255.0", ""), 0, ""),
        (("-setmanual", "en0", "192.168.77.1", "255.255.255.0"), 4, NOT_A_SERVICE),
        (("-setmanual", "Ethernet", "192.168.77", "255.255.255.0"), 4, NOT_VALID),
        (("-setmanual", "Ethernet", "192.168.77.1"), 4, NOT_VALID),
        (("-setmanual",), 4, NOT_VALID),
        # as zsh hands it on, which takes # for a word where a person types
        (("-setmanual", "Ethernet", "192.168.77.1", "255.255.255.0", "#", "then"), 4, NOT_VALID),
        (("-setdhcp", "Ethernet"), 0, ""),
        (("-setdhcp", "en0"), 4, NOT_A_SERVICE),
        (("-getinfo", "en0"), 4, NOT_A_SERVICE),
    ],
)
def test_an_address_is_set_for_a_service(mac: Run, words: tuple[str, ...], code: int, message: str) -> None:
    asked: list[dict[str, Any]] = []
    answers = {name: lambda **arguments: asked.append(arguments) for name in ("set_manual", "set_dhcp")}
    assert mac("15.5", "networksetup", *words, answers=answers) == (code, message, "")
    address = {"ip": 0xC0A84D01, "mask": 0xFFFFFF00} if words[0] != "-setdhcp" else {}
    assert asked == ([{"name": "en0", **address}] if code == 0 else [])


def test_only_root_sets_an_address(mac: Run) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    words = ("-setmanual", "Ethernet", "192.168.77.1", "255.255.255.0")
    refusal = (14, "** Error: Command requires admin privileges.\n", "")
    assert mac("15.5", "networksetup", *words, answers={"set_manual": refuse}) == refusal
    assert mac("15.5", "networksetup", "-setdhcp", "Ethernet", answers={"set_dhcp": refuse}) == refusal
