"""What ping of an emulated Mac prints, against what real ones printed."""

import socket

import pytest
from support.emulated_programs import capture

from emulated_mac.programs import ping


def test_a_ping_longer_than_its_socket_fails_like_one_longer_than_the_mtu(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ping, "call", lambda _, name: "8192")
    monkeypatch.setattr(socket, "gethostbyname", lambda name: "1.2.3.4")
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)  # one of ICMP takes rights that this test need not have
    monkeypatch.setattr(socket, "socket", lambda *_: udp)
    assert ping.main(["-D", "-s", "8972", "-c", "1", "-W", "10", "1.2.3.4"]) == 2
    printed = capfd.readouterr()
    assert sorted((printed.out + printed.err).splitlines()) == sorted(capture("ping-too-long.txt").splitlines())
