"""A hosts file with a server that nobody logs in to, this machine as a host, a mounted share, and an iperf3."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.input_files import load_text
from support.pairs import UNSEEN, hosts_model
from support.paths import TESTS

from lab.base.errors import BadInput
from lab.hosts import Role
from lab.hosts.hosts_file import load_hosts

CLIENT, SERVER = "[client]\nhost = mac\ndata_address = 192.0.2.1\n", "[server]\ndata_address = 192.0.2.2\n"
SHARE = "[share]\naccount = lab\n"
LOCAL = CLIENT.replace("host = mac", "transport = local")
BOTH = {Role.CLIENT, Role.SERVER}
Keys = Mapping[str, str | None]
NO_LOGIN = "transport = local is this machine, without SSH: leave it out"
SEEN = f"{CLIENT}{SERVER}host = nas\n{SHARE}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CLIENT.replace("host = mac\n", "") + SERVER + SHARE, "[client] host: missing; or give transport = local, w"),
        (CLIENT + SERVER + SHARE + "serve = lab\n",
         "[server] host: missing: serve = lab needs a login there; serve = existing does without"),
        (CLIENT + SERVER + "tune = yes\n" + SHARE, "[server] tune: without host nobody logs in there, and nothing can"),
        (LOCAL + SERVER + "transport = local\n" + SHARE,
         "[server] transport: [client] is this machine: it cannot be both"),
        *(
            (f"{LOCAL}{line}\n{SERVER}{SHARE}", f"[client] {line.split()[0]}: {NO_LOGIN}")
            for line in ("host = mac", "user = me", "port = 22", "identity = /k", "known_hosts = /k",
                         "proxy_command = nc %h")
        ),
        (CLIENT + "iperf3 = off\n" + SERVER + SHARE, "[client] iperf3: is for the server"),
        (CLIENT + SERVER + "iperf3 = \n" + SHARE,
         "[server] iperf3: is neither off nor an address such as 192.168.77.2, or 192.168.77.2:5201"),
        *((f"{CLIENT}{SERVER}iperf3 = {bad}\n{SHARE}", "[server] iperf3: is no IP address")
          for bad in ("on", "nas.local:5201", "192.0.2.2:iperf", "[fd00::1]:", "192.0.2.2; rm -rf /")),
        *((f"{CLIENT}{SERVER}iperf3 = 192.0.2.2:{port}\n{SHARE}", "[server] iperf3: is not a port from 1 to 65535")
          for port in (0, 65536)),
        (CLIENT + SERVER + "[share]\nserve = existing\n", "[share] account: missing"),
        (CLIENT + SERVER + "[share]\nmounted = media\n", "[share] mounted: is not a full path"),
        (SEEN + "mounted = /mnt/x\nserve = lab\n",
         "[share] mounted: is for serve = existing: what the lab serves, it mounts"),
        (SEEN + "path = /srv\nfolder = a/b\n",
         "[share] folder: is for a share that no login leads to; elsewhere give path"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_the_place_and_the_way_out(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        load_text(tmp_path, text)
    assert message in str(refused.value)


def test_an_iperf3_is_an_address_with_a_port_or_off(tmp_path: Path) -> None:
    for text, parsed in {
        "off": "off", "192.0.2.2": ("192.0.2.2", 5201), "192.0.2.2:80": ("192.0.2.2", 80),
        "fd00::1": ("fd00::1", 5201), "[fd00::1]": ("fd00::1", 5201), "[fd00::1]:80": ("fd00::1", 80),
    }.items():  # fmt: skip
        hosts = load_text(tmp_path, f"{CLIENT}{SERVER}iperf3 = {text}\n{SHARE}")
        assert (hosts.server.iperf3, hosts.measures_link) == (parsed, text != "off")


@pytest.mark.parametrize(
    ("server", "share", "facts"),  # who is reached, whether files are made through the mount, and the link measured
    [
        ({}, {}, (BOTH, False, True)), ({"iperf3": "off"}, {}, (BOTH, False, False)),
        ({}, {"path": None}, (BOTH, True, True)), ({}, {"mounted": "/mnt/x"}, (BOTH, True, True)),
        ({}, {"path": None, "serve": "lab"}, (BOTH, False, True)), (UNSEEN, {}, ({Role.CLIENT}, True, False)),
        ({"host": None, "transport": "local"}, {}, (BOTH, False, True)),
        ({"host": None, "iperf3": "192.0.2.9"}, {}, ({Role.CLIENT}, True, True)),
    ],
)  # fmt: skip
def test_what_follows_from_who_is_reached(server: Keys, share: Keys, facts: tuple[set[Role], bool, bool]) -> None:
    hosts = hosts_model(server=server, share=share)
    assert (set(hosts.reached), hosts.through_mount, hosts.measures_link) == facts


def test_who_is_reached_is_said_as_people_say_it_for_the_examples_of_the_guides_too() -> None:
    hosts = hosts_model(client={"host": None, "transport": "local"}, server=UNSEEN)
    assert (hosts.client.login, hosts.server.login) == ("this machine", "nobody")
    named = hosts_model(client={"user": "me"})
    assert (named.client.login, named.server.login) == ("me@client", "server")
    hosts = load_hosts(TESTS / "examples" / "hosts-unseen-server.ini")
    assert (hosts.reached, hosts.through_mount, hosts.measures_link) == ((Role.CLIENT,), True, False)
    hosts = load_hosts(TESTS / "examples" / "hosts-several-clients.ini")
    assert [client.user for client in hosts.clients.values()] == ["editor"] * 3
