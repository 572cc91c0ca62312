"""Sections of a hosts file: what is still to be filled in, and what a further client says."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.input_files import HOSTS, load_text
from support.paths import ROOT

from lab.base.errors import BadInput
from lab.hosts.role import MOST_CLIENTS, Role, client_name, is_further_client, role_of
from lab.hosts.sections import check_filled_in, is_untouched
from lab.local.names import ALL_HOSTS
from lab.local.names import MOST_CLIENTS as MOST_OF_LOCAL_LAB
from lab.settings.register import describe_hosts

TEMPLATE = (ROOT / "hosts.ini").read_text(encoding="utf-8")
LINES = {f"line {number}" for number, line in enumerate(TEMPLATE.splitlines(), 1) if "# <--" in line}


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(BadInput, match=rf"^{re.escape(str(folder / 'hosts.ini'))}: ") as raised:
        load_text(folder, text)
    return str(raised.value).replace(f"{folder / 'hosts.ini'}: ", "")


def test_the_file_that_comes_with_the_lab_is_untouched_and_names_what_to_fill_in(tmp_path: Path) -> None:
    assert is_untouched(TEMPLATE)
    message = refusal(tmp_path, TEMPLATE)
    assert message.startswith("fill in the lines marked <--: line ")
    named = re.findall(r"\((\[\w+\] \w+)\)", message)
    assert named == ["[client] host", "[client] user", "[server] host", "[server] user", "[share] account"]
    assert set(re.findall(r"line \d+", message)) < LINES
    assert "`lab init`" in message


def test_what_is_still_to_be_filled_in_is_named_alone_and_a_file_without_marks_is_read(tmp_path: Path) -> None:
    text = TEMPLATE.replace("host = client.local", "host = mini.local", 1).replace("user = you", "user = jane")
    named = re.findall(r"\((\[\w+\] \w+)\)", refusal(tmp_path, text))
    assert named == ["[server] host", "[share] account"]
    assert not is_untouched(text)
    text = TEMPLATE.replace("client.local", "a").replace("server.local", "b").replace("= you", "= jane")
    assert load_text(tmp_path, text).client.data_address == "192.168.77.1"
    text = TEMPLATE.replace("# <--", "")
    assert load_text(tmp_path, text).client.host == "client.local"
    assert is_untouched(text)


def test_any_other_line_is_somebodys_work_and_another_comment_is_not() -> None:
    changes = {"# interface = en0": "interface = en7", "sudo = password": "sudo = none", "[share]": "[lab]\n[share]"}
    for change in changes.items():
        assert not is_untouched(TEMPLATE.replace(*change, 1))
    assert is_untouched(f"; mine\n{TEMPLATE}\n# end\n".replace("host = client.local", "host   =  client.local"))


@given(st.text())
def test_no_text_is_taken_for_the_template_or_breaks_the_check(text: str) -> None:
    assert not is_untouched(text)
    check_filled_in(text, Path("hosts.ini"))


SECOND = "[client.2]\nhost = two.example\ndata_address = 192.0.2.12\n"
THIRD = "[client.3]\nhost = three.example\ndata_address = 192.0.2.13\nuser = other\nram_disk = 64 MiB\n"


def test_a_further_client_takes_what_it_does_not_say_from_the_first(tmp_path: Path) -> None:
    keys = "user = me\ninterface = en7\nproxy_command = nc %h %p\nram_disk = 1 GiB\n"
    hosts = load_text(tmp_path, HOSTS.replace("[client]\n", f"[client]\n{keys}") + SECOND + THIRD)
    assert list(hosts.clients) == ["client", "client.2", "client.3"]
    assert hosts.names == ("client", "server", "client.2", "client.3")
    second, third = hosts.section("client.2"), hosts.section("client.3")
    assert (second.host, second.user, second.ram_disk) == ("two.example", "me", 2**30)
    assert (second.interface, second.proxy_command) == (None, None)
    assert (third.user, third.ram_disk) == ("other", 2**26)
    assert hosts.section("client.3").place == hosts.client.place
    assert hosts.may_tune("client.2")


def test_a_client_beside_this_machine_is_reached_by_ssh_and_a_mounted_share_is_on_one_client(tmp_path: Path) -> None:
    lines = [line for line in HOSTS.splitlines() if not line.startswith("host = mac")]
    local = "\n".join(lines).replace("[client]", "[client]\ntransport = local") + "\n"
    assert load_text(tmp_path, local + SECOND).section("client.2").transport == "paramiko"
    with pytest.raises(BadInput, match=r"\[share\] mounted: is for one client"):
        load_text(tmp_path, HOSTS.replace("[share]", "[share]\nmounted = /mnt") + SECOND)


def test_a_hosts_file_as_one_of_its_clients_sees_it(tmp_path: Path) -> None:
    hosts = load_text(tmp_path, HOSTS + SECOND + THIRD)
    assert hosts.seen_by("client.3").client.host == "three.example"
    assert list(hosts.seen_by("client.3").clients) == ["client"]
    assert list(hosts.with_clients(2).clients) == ["client", "client.2"]
    assert hosts.with_clients(1).digest == hosts.digest != b""
    assert describe_hosts(hosts)["client.2"] == "two.example (192.0.2.12)"
    assert describe_hosts(hosts.with_clients(1)).keys() == {"client", "server"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (THIRD, "[client.3]: there is no [client.2]: number clients without a gap"),
        (SECOND.replace("two", "mac"), "[client.2] host: is that of [client] too; two clients cannot be one machine"),
        (SECOND.replace("192.0.2.12", "192.0.2.1"), "[client.2] data_address: is that of [client] too"),
        (SECOND.replace("192.0.2.12", "127.0.0.1"), "[client.2] data_address: is loopback"),
        (SECOND.replace("data_address = 192.0.2.12\n", ""), "[client.2] data_address: missing"),
        (SECOND + "usr = me\n", "[client.2] usr: unknown; what may stand here is host, "),
        (SECOND + "port = many\n", "[client.2] port: "),
        (SECOND + "iperf3 = off\n", "[client.2] iperf3: is for the server"),
        (SECOND.replace("[client.2]", "[client.17]"), "[client.17]: unknown; what may stand here is client, server"),
        *((SECOND.replace("client.2", name), f"[{name}]: unknown") for name in ("client.1", "client.02")),
        *((text, "[more_clients]: unknown") for text in ("[more_clients]\nx = y\n", "[more_clients]\n")),
        (SECOND + "[more_clients]\nclient.9 = y\n", "[more_clients]: unknown"),
    ],
)
def test_what_is_wrong_names_section_and_key(text: str, message: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, HOSTS + text).startswith(message)


def test_names_of_hosts() -> None:
    names = [client_name(number) for number in range(1, MOST_CLIENTS + 1)]
    assert names[:3] == ["client", "client.2", "client.3"]
    assert all(role_of(name) is Role.CLIENT for name in names)
    assert role_of("server") is Role.SERVER
    assert [name for name in names if not is_further_client(name)] == ["client"]
    for name in ("client.1", "client.02", "client.17", "client.2 ", "server.2", ""):
        assert not is_further_client(name)
        with pytest.raises(ValueError, match="not a valid Role"):
            role_of(name)
    assert MOST_OF_LOCAL_LAB == MOST_CLIENTS
    assert set(ALL_HOSTS) == {*names, "server"}
