from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import LabFailure
from lab.platforms.base import parse_facts
from lab.platforms.linux import parse_link, parse_route

CAPTURES = Path(__file__).parent / "captures" / "linux"


def capture(name: str) -> str:
    return (CAPTURES / name).read_text(encoding="utf-8")


def test_facts_are_values_and_tools() -> None:
    values, tools = parse_facts(capture("facts.txt"))
    assert values["os"] == "Debian GNU/Linux 12 (bookworm)"
    assert values["cpu"] == "Intel(R) Xeon(R) Processor"
    assert (values["cores"], values["uid"], values["home"]) == ("2", "0", "/root")
    assert (int(values["memory_kib"]), int(values["available_kib"])) == (24684084, 24115256)
    assert tools == {"perl": "", "rsync": "rsync  version 3.2.7  protocol version 31", "ssh": ""}


@pytest.mark.parametrize(("name", "peer"), [("route-gateway.json", "203.0.113.7"), ("route-on-link.json", "192.0.2.1")])
def test_route_names_the_interface(name: str, peer: str) -> None:
    assert parse_route(capture(name), peer) == "eth0"


def test_a_route_to_itself_is_no_peer() -> None:
    with pytest.raises(LabFailure, match=r"127\.0\.0\.1 is an address of this host itself"):
        parse_route(capture("route-self.json"), "127.0.0.1")


def test_no_route_is_an_error() -> None:
    with pytest.raises(LabFailure, match="no route to"):
        parse_route("[]", "203.0.113.7")


def test_link_has_mtu_and_its_limits() -> None:
    link = parse_link(capture("link-eth0.json"))
    assert (link["mtu"], link["min_mtu"], link["max_mtu"]) == (1400, 68, 65535)


def test_the_loopback_states_no_limit() -> None:
    link = parse_link(capture("link-lo.json"))
    assert (link["ifname"], link["mtu"], link["max_mtu"]) == ("lo", 65536, 0)


def test_empty_objects_of_old_versions_are_passed_over() -> None:
    assert parse_link('[{},{"ifname":"eth0","mtu":1500},{}]')["mtu"] == 1500
