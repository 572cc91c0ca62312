"""Local labs of several clients: what their options say of which host, and what is refused before anything is made."""

import re
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from support.made_up_labs import lab_of

from lab.base.errors import BadInput
from lab.hosts.hosts_file import load_hosts
from lab.local import backends, host_config, lifecycle, network, platforms, state
from lab.local.names import hosts_of
from lab.local.state import ADDRESS

MAC = "macos@15.5"


def test_options_are_of_all_hosts_or_of_one() -> None:
    assert platforms.title({"client": MAC, "server": MAC}) == ", client and server EMULATED Macs (15.5)"
    assert platforms.title({"client": "linux", "server": "linux"}) == ""
    hosts = hosts_of(3)
    assert hosts == ("client", "server", "client.2", "client.3")
    rates = network.parse_rates(["400mbit", "client.3=50mbit", "server=none"], hosts, "1gbit")
    assert rates == {"client": "400mbit", "server": "none", "client.2": "400mbit", "client.3": "50mbit"}
    parsed = platforms.parse(["macos@15.5", "server=linux", "client.2=macos@10.6"], hosts)
    assert parsed == {"client": MAC, "server": "linux", "client.2": "macos@10.6.8", "client.3": MAC}


@pytest.mark.parametrize("host", ["client.4", "client.1", "client.02", "clients", "Client", "[client.2]"])
def test_a_host_that_the_lab_does_not_have_is_refused(host: str) -> None:
    hosts = hosts_of(3)
    message = f"{host}=none: {host} is not a host of the local lab: name client or server or client.2 or client.3"
    for parse in (platforms.parse, partial(network.parse_rates, default="none")):
        with pytest.raises(BadInput, match=f"{re.escape(message)}$"):
            parse([f"{host}=none"], hosts)


@pytest.mark.parametrize(("macs", "title"), [
    ({"client": MAC}, "3 clients, client an EMULATED Mac (15.5)"),
    ({"client": MAC, "client.3": MAC}, "3 clients, client and client.3 EMULATED Macs (15.5)"),
    ({"client": MAC, "client.2": MAC, "client.3": MAC}, "3 clients, all clients EMULATED Macs (15.5)"),
    (dict.fromkeys(hosts_of(3), MAC), "3 clients, all clients and server EMULATED Macs (15.5)"),
    ({"server": MAC, "client.2": "macos@10.6.8", "client.3": MAC},
     "3 clients, client.3 and server EMULATED Macs (15.5), client.2 an EMULATED Mac (10.6.8)"),
])  # fmt: skip
def test_the_hosts_file_has_a_section_of_each_and_names_macs(tmp_path: Path, macs: dict[str, str], title: str) -> None:
    lab = lab_of(name="n", platforms=dict.fromkeys(hosts_of(3), "linux") | macs)
    path = tmp_path / "hosts.local.n.ini"
    path.write_text(host_config.hosts_ini(lab))
    hosts = load_hosts(path)
    assert (hosts.lab.title or "").endswith(f": 1 Gbit/s, no added delay, {title}")
    for name, section in {**hosts.clients, "server": hosts.server}.items():
        is_mac, is_old = name in macs, macs.get(name) == "macos@10.6.8"
        assert (section.data_address, section.host) == (ADDRESS[name], f"{name}.n.lab")
        assert (section.user, section.sudo) == (("lab", "nopasswd") if is_mac else ("root", "none"))
        transport = ("openssh", ("ssh-rsa",)) if is_old else ("paramiko", ())
        assert (section.transport, section.ssh_algorithms) == transport


@pytest.mark.parametrize(("available_kib", "fits"), [(17 * 256 * 1024, True), (17 * 256 * 1024 - 1, False)])
def test_guests_without_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, available_kib: int, fits: bool) -> None:
    path = tmp_path / "meminfo"
    path.write_text(f"MemTotal:       24684084 kB\nMemFree:         {1024} kB\nMemAvailable:   {available_kib} kB\n")
    monkeypatch.setattr(backends, "MEMORY", path)
    refusal = pytest.raises(BadInput, match="--kernel own: 17 guests take at least 4352 MiB, and 4351 MiB are free")
    with nullcontext() if fits else refusal:
        backends._check_memory(17)


@pytest.mark.parametrize("clients", [0, -1, 17])
def test_a_number_of_clients_that_no_lab_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, clients: int) -> None:
    monkeypatch.setattr(state, "need_root", lambda: None)
    with pytest.raises(BadInput, match=f"--clients {clients}: a local lab has 1 to 16"):
        lifecycle.up("n", [], "none", tmp_path, [MAC], clients=clients)
    assert list(tmp_path.iterdir()) == []
