"""What ifconfig of an emulated Mac prints, against what real ones printed."""

import pytest
from support.emulated_programs import Run, capture, show_card

from emulated_mac.programs import ifconfig


def test_ifconfig_prints_what_a_mac_printed(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, ifconfig)
    real = capture("ifconfig-10gbase-t.txt").replace(",flow-control", "")
    assert mac("15.5", "ifconfig", "en0") == (0, real, "")
    assert mac("15.5", "ifconfig", "en9") == (1, "", "ifconfig: interface en9 does not exist\n")
    assert mac("15.5", "ifconfig", "-z", "en0")[::2] == (1, "ifconfig: illegal option -- z\n" + ifconfig.USAGE + "\n")
    show_card(monkeypatch, ifconfig, is_active=False)
    assert "\tmedia: autoselect (none)\n\tstatus: inactive\n" in mac("15.5", "ifconfig", "en0")[1]


def test_ifconfig_only_warns_of_an_mtu_that_is_refused(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    show_card(monkeypatch, ifconfig)

    def refuse(name: str, value: int) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(ifconfig, "set_mtu", refuse)
    assert mac("26", "ifconfig", "en0", "mtu", "9001") == (0, "", "ifconfig: ioctl (set mtu): Invalid argument\n")
    assert mac("26", "ifconfig", "en0", "mtu") == (1, "", "ifconfig: 'mtu' requires argument\n")
