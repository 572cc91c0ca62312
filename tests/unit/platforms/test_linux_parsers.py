from __future__ import annotations

import pytest
from support.paths import LINUX_CAPTURES

from lab.platforms.linux.parsers import parse_link, parse_linux_facts, parse_route


def capture(name: str) -> str:
    return (LINUX_CAPTURES / name).read_text(encoding="utf-8")


def test_facts_are_values_and_tools() -> None:
    values, tools = parse_linux_facts(capture("facts.txt"))
    assert values["os"] == "Debian GNU/Linux 12 (bookworm)"
    assert values["cpu"] == "Intel(R) Xeon(R) Processor"
    assert (values["cores"], values["uid"], values["home"]) == ("2", "0", "/root")
    assert (int(values["memory_kib"]), int(values["available_kib"])) == (24684084, 24115256)
    assert tools == {"perl": "", "rsync": "rsync  version 3.2.7  protocol version 31", "ssh": ""}


@pytest.mark.parametrize("name", ["bbr", "", "dctcp_2"])
def test_congestion_control_is_a_fact(name: str) -> None:
    values, _ = parse_linux_facts(capture("facts.txt").replace("cores 2", f"congestion {name}\ncores 2"))
    assert values["congestion"] == name


@pytest.mark.parametrize("name", ["two words", "<b>", "x" * 16])
def test_congestion_control_that_no_kernel_names_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        parse_linux_facts(capture("facts.txt").replace("cores 2", f"congestion {name}\ncores 2"))


@pytest.mark.parametrize(
    ("name", "interface"), [("route-gateway.json", "eth0"), ("route-on-link.json", "eth0"), ("route-self.json", "")]
)
def test_route_names_the_interface_and_none_to_itself(name: str, interface: str) -> None:
    assert parse_route(capture(name)) == interface


def test_no_route_is_an_error() -> None:
    with pytest.raises(ValueError, match="no route"):
        parse_route("[]")


def test_link_has_mtu_and_its_limits() -> None:
    assert parse_link(capture("link-eth0.json")) == (1400, 68, 65535)


def test_the_loopback_states_no_limit() -> None:
    assert parse_link(capture("link-lo.json")) == (65536, 0, 0)


def test_empty_objects_of_old_versions_are_passed_over() -> None:
    assert parse_link('[{},{"ifname":"eth0","mtu":1500},{}]') == (1500, None, None)
