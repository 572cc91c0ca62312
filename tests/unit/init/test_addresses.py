"""This machine's addresses, and others by name; all on loopback."""

import socket

import pytest

from lab.init import addresses
from lab.init.addresses import address_towards, open_services, own_addresses, resolve


def test_the_own_addresses_are_those_that_others_may_reach() -> None:
    assert all(not own.address.is_loopback and own.interface for own in own_addresses())


@pytest.mark.parametrize(("peer", "own"), [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("a name", None)])
def test_the_system_says_from_which_address_it_would_send(peer: str, own: str | None) -> None:
    assert address_towards(peer) == own


@pytest.mark.parametrize(("name", "address"), [("localhost", "127.0.0.1"), ("::1", "::1"), ("a" * 70, None)])
def test_a_name_leads_to_an_address_of_ipv4_where_it_has_one(name: str, address: str | None) -> None:
    assert resolve(name) == address


def test_a_service_is_there_where_its_port_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        ports = {"SMB": server.getsockname()[1], "SSH": closed.getsockname()[1]}
        monkeypatch.setattr(addresses, "SERVICE_PORTS", ports)
        assert open_services("127.0.0.1") == {"SMB"}
