"""What ipconfig of an emulated Mac prints, against bootp's client.c."""

import pytest
from support.emulated_programs import Run, show_card

from emulated_mac.programs import ipconfig

USAGE = "usage: ipconfig <command> <args>\nwhere <command> is one of waitall, getifaddr, ifcount, "


def test_ipconfig_prints_the_address_of_an_interface(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, ipconfig)
    for words in (("getifaddr", "en0"), ("GETIFADDR", "en0", "more")):
        assert mac("15.5", "ipconfig", *words) == (0, "10.254.100.2\n", "")
    for absent in ("lo0", "en7"):  # without an address, and not there
        assert mac("15.5", "ipconfig", "getifaddr", absent) == (1, "", "")


def test_ipconfig_refuses_what_it_does_not_know(mac: Run) -> None:
    assert mac("15.5", "ipconfig", "getifaddr") == (1, "", "usage: ipconfig getifaddr <interface name>\n")
    for words in ((), ("show",)):
        code, printed, said = mac("15.5", "ipconfig", *words)
        assert (code, printed, said.startswith(USAGE)) == (1, "", True)
