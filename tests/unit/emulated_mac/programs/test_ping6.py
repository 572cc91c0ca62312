"""What ping6 of an emulated Mac prints, as ping6.c has it."""

import socket

import pytest
from support.emulated_programs import Run

from emulated_mac import echo
from emulated_mac.programs import ping6


def test_a_ping_longer_than_its_socket_fails_like_one_longer_than_the_mtu(
    mac: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(echo, "call", lambda _, name: "8192")
    monkeypatch.setattr(ping6.Run, "_receive", lambda *_: False)  # which waits for eleven seconds
    real = socket.socket
    monkeypatch.setattr(socket, "socket", lambda *_: real(socket.AF_INET6, socket.SOCK_DGRAM))  # ICMP takes rights
    printed = (
        "PING6(9000=40+8+8952 bytes) ::1 --> ::1\nping6: wrote ::1 8960 chars, ret=-1\n\n--- ::1 ping6 statistics ---\n"
        "1 packets transmitted, 0 packets received, 100.0% packet loss\n"
    )
    warned = "ping6: you need -b to increase socket buffer size\n"
    asked = ("ping6", "-n", "-D", "-m", "-s", "8952", "-c", "1", "::1")
    assert mac("15.5", *asked) == (2, printed, warned + "ping6: sendmsg: Message too long\n")
    sent = mac("15.5", "ping6", "-b", "16384", *asked[1:])
    assert sent == (2, printed.replace("ping6: wrote ::1 8960 chars, ret=-1\n", ""), "")


@pytest.mark.parametrize(
    ("version", "words", "message"),
    [
        ("10.6", "-n -D ::1", "ping6: illegal option -- D\nusage: ping6 [-dfHm"),
        ("15.5", "-y ::1", "ping6: illegal option -- y\nusage: ping6 [-DdfHm"),
        ("15.5", "", "usage: ping6 [-DdfHm"),
        ("15.5", "-c 0 ::1", "ping6: illegal number of packets -- 0\n"),
        ("15.5", "-s 131025 ::1", "ping6: datalen value too large, maximum is 131024\n"),
        ("15.5", "nosuch.invalid", "ping6: getaddrinfo -- nodename nor servname provided, or not known\n"),
    ],
)
def test_what_ping6_does_not_take(mac: Run, version: str, words: str, message: str) -> None:
    code, printed, error = mac(version, "ping6", *words.split())
    assert (code, printed) == (1, "")
    assert error.startswith(message)
