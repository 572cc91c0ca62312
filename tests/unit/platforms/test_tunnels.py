"""Which interfaces are tunnels, and which have no hardware below them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fake_host import EmulatedHost, FakeHost

from lab.platforms.findings import Medium
from lab.platforms.linux.network import MEDIUM, TUNNEL, LinuxNetwork
from lab.platforms.macos.network import MacNetwork


@pytest.mark.parametrize(
    ("name", "files", "is_tunnel"),
    [
        ("wg0", {}, True),
        ("tun3", {}, True),
        ("home", {"uevent": "DEVTYPE=wireguard\nINTERFACE=home\n", "type": "65534\n"}, True),
        ("vpn", {"uevent": "INTERFACE=vpn\n", "type": "65534\n", "tun_flags": "0x1001\n"}, True),
        ("sixfour", {"uevent": "", "type": "776\n"}, True),
        ("dsl", {"uevent": "DEVTYPE=ppp\n", "type": "512\n"}, True),
        ("eth0", {"uevent": "INTERFACE=eth0\n", "type": "1\n"}, False),
        ("eth1", {"uevent": "INTERFACE=eth1\n", "type": "1\n", "tun_flags": "0x1002\n"}, False),  # TAP, as of a guest
        ("wlan0", {"uevent": "DEVTYPE=wlan\n", "type": "1\n"}, False),
    ],
)
def test_linux_knows_a_tunnel_by_name_or_by_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, files: dict[str, str], is_tunnel: bool
) -> None:
    (tmp_path / "net" / name).mkdir(parents=True)
    for file, content in files.items():
        (tmp_path / "net" / name / file).write_text(content)
    monkeypatch.setattr("lab.platforms.linux.network.TUNNEL", TUNNEL.replace("/sys/class/net", f"{tmp_path}/net"))
    network = LinuxNetwork(EmulatedHost(tmp_path, {}, ("sh", "cat", "grep")))
    assert network.is_tunnel(name) is is_tunnel


@pytest.mark.parametrize(("file", "is_virtual"), [("device", False), ("lower_eth0", False), ("mtu", True)])
def test_an_interface_of_linux_without_hardware_is_virtual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, is_virtual: bool
) -> None:
    (tmp_path / "net" / "x").mkdir(parents=True)
    (tmp_path / "net" / "x" / file).touch()
    (tmp_path / "net" / "x" / "duplex").write_text("full\n")
    monkeypatch.setattr("lab.platforms.linux.network.MEDIUM", MEDIUM.replace("/sys/class/net", f"{tmp_path}/net"))
    network = LinuxNetwork(EmulatedHost(tmp_path, {}, ("sh", "cat", "ls")))
    assert network.medium("x") == Medium(False, "full", is_virtual)


def test_a_mac_knows_a_tunnel_by_its_name() -> None:
    assert MacNetwork(FakeHost()).is_tunnel("utun3")
    assert not MacNetwork(FakeHost()).is_tunnel("en0")
