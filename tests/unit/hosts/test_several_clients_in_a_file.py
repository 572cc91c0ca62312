"""``[client.2]``, ``[client.3]``, … of a hosts file: what they take from ``[client]``, and what is wrong with them."""

from pathlib import Path

import pytest
from support.input_files import HOSTS, load_text

from lab.base.errors import BadInput
from lab.hosts.role import MOST_CLIENTS, Role, client_name, is_further_client, role_of
from lab.local.names import ALL_HOSTS
from lab.local.names import MOST_CLIENTS as MOST_OF_LOCAL_LAB
from lab.settings.register import describe_hosts

SECOND = "[client.2]\nhost = two.example\ndata_address = 192.0.2.12\n"
THIRD = "[client.3]\nhost = three.example\ndata_address = 192.0.2.13\nuser = other\nram_disk = 64 MiB\n"


def test_a_further_client_takes_what_it_does_not_say_from_the_first(tmp_path: Path) -> None:
    first = HOSTS.replace(
        "[client]\n", "[client]\nuser = me\ninterface = en7\nproxy_command = nc %h %p\nram_disk = 1 GiB\n"
    )
    hosts = load_text(tmp_path, first + SECOND + THIRD)
    assert list(hosts.clients) == ["client", "client.2", "client.3"]
    assert hosts.names == ("client", "server", "client.2", "client.3")
    second, third = hosts.section("client.2"), hosts.section("client.3")
    assert (second.host, second.user, second.ram_disk) == ("two.example", "me", 2**30)
    assert (second.interface, second.proxy_command) == (None, None)
    assert (third.user, third.ram_disk) == ("other", 2**26)
    assert hosts.section("client.3").place == hosts.client.place
    assert hosts.may_tune("client.2")


def test_a_client_beside_this_machine_is_reached_by_ssh(tmp_path: Path) -> None:
    lines = [line for line in HOSTS.splitlines() if not line.startswith("host = mac")]
    local = "\n".join(lines).replace("[client]", "[client]\ntransport = local") + "\n"
    assert load_text(tmp_path, local + SECOND).section("client.2").transport == "paramiko"


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
        (SECOND.replace("[client.2]", "[client.1]"), "[client.1]: unknown"),
        (SECOND.replace("[client.2]", "[client.02]"), "[client.02]: unknown"),
        ("[more_clients]\nx = y\n", "[more_clients]: unknown"),
        ("[more_clients]\n", "[more_clients]: unknown"),
        (SECOND + "[more_clients]\nclient.9 = y\n", "[more_clients]: unknown"),
    ],
)
def test_what_is_wrong_names_section_and_key(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        load_text(tmp_path, HOSTS + text)
    assert str(refused.value).startswith(f"{tmp_path / 'hosts.ini'}: {message}")


def test_a_share_that_somebody_else_mounted_is_on_one_client(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"\[share\] mounted: is for one client"):
        load_text(tmp_path, HOSTS.replace("[share]", "[share]\nmounted = /mnt") + SECOND)


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
