"""Addresses of both families as URLs and commands take them."""

import socket

import pytest

from lab.base.addresses import for_command, for_url, own_address_towards, seen_from, with_zone, without_brackets


@pytest.mark.parametrize(
    ("address", "in_url", "in_command"),
    [("192.0.2.1", "192.0.2.1", "192.0.2.1"), ("nas.local", "nas.local", "nas.local"),
     ("fd00::1", "[fd00::1]", "[fd00::1]"), ("fe80::1%eth0", "[fe80::1%25eth0]", "[fe80::1%eth0]")],
)  # fmt: skip
def test_ipv6_stands_in_brackets_before_a_path_or_port(address: str, in_url: str, in_command: str) -> None:
    assert (for_url(address), for_command(address)) == (in_url, in_command)
    assert without_brackets(in_command) == address


@pytest.mark.parametrize(
    ("own", "peer", "seen"),
    [("fe80::1%en0", "fe80::2%eth3", "fe80::2%en0"), ("fd00::1", "fd00::2", "fd00::2"),
     ("192.0.2.1", "192.0.2.2", "192.0.2.2"), ("fe80::1%en0", "fd00::2", "fd00::2"),
     ("fd00::1", "fe80::2%eth3", "fe80::2%eth3")],
)  # fmt: skip
def test_a_host_reaches_an_address_of_its_link_by_its_own_interface(own: str, peer: str, seen: str) -> None:
    assert seen_from(own, peer) == seen


def test_the_zone_that_python_keeps_as_a_number_is_in_the_address() -> None:
    assert with_zone(("fe80::1", 9, 0, socket.if_nametoindex("lo"))) == "fe80::1%lo"
    assert with_zone(("fe80::1%lo", 9, 0, socket.if_nametoindex("lo"))) == "fe80::1%lo"
    assert [with_zone(("fd00::1", 9, 0, 0)), with_zone(("192.0.2.1", 9))] == ["fd00::1", "192.0.2.1"]
    assert own_address_towards("127.0.0.1") == "127.0.0.1"
