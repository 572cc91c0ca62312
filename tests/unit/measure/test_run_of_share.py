"""A subject as hosts and a sweep: what is kept reads back as it was meant."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most

from lab.base.errors import BadInput
from lab.design.sweep_file import parse_sweep
from lab.hosts.hosts_file import load_hosts
from lab.measure.run_of_share import hosts_of, keep_hosts, run_name, sweep_of, tools
from lab.measure.subject import Subject
from lab.measure.target import Url, parse_target
from lab.platforms import Facts

FACTS = Facts(
    "mac", "linux", "Debian", "Linux 6", "cpu", 2, 1 << 30, 1 << 30, "ann", False, "/home/ann", "eth0", 9000,
    tools={"rsync": "3.4"},
)  # fmt: skip
NAS = ("nas", "192.0.2.2", "192.0.2.1", FACTS)
FOLDER = Subject("/mnt/nas", "smb", *NAS, mounted="/mnt/nas", share="media")
URL = Subject("smb://bob@nas/media/a b", "smb", *NAS, share="media", folder="a b", account="bob")
EXPORT = Subject("nfs://nas/srv", "nfs", *NAS, share="/srv", account="ann")
HOST = Subject("bob@nas", "ssh", *NAS, login="bob@nas")


def read(tmp_path: Path, subject: Subject, iperf3: str = "off") -> Any:
    hosts = keep_hosts(hosts_of(subject, "shm", 1 << 30, iperf3, "env:SECRET"), tmp_path / "state")
    again = load_hosts(hosts.path)
    assert (again, again.digest) == (hosts, hosts.digest)
    return hosts


def test_a_mounted_folder_is_used_as_it_is(tmp_path: Path) -> None:
    hosts = read(tmp_path, FOLDER)
    assert (hosts.client.transport, hosts.client.sudo, hosts.client.tune) == ("local", "none", "no")
    assert (hosts.share.mounted, hosts.through_mount, hosts.measures_link) == ("/mnt/nas", True, False)
    assert [role.value for role in hosts.reached] == ["client"]


def test_a_share_is_mounted_by_the_lab_with_its_account(tmp_path: Path) -> None:
    hosts = read(tmp_path, URL, "[192.0.2.2]:5201")
    share = hosts.share
    assert (share.name, share.folder, share.account, share.password) == ("media", "a b", "bob", "env:SECRET")
    assert (hosts.server.iperf3, hosts.measures_link) == (("192.0.2.2", 5201), True)
    assert read(tmp_path, EXPORT).share.path == "/srv"


def test_a_login_is_without_root_and_its_host_is_seen(tmp_path: Path) -> None:
    hosts = read(tmp_path, HOST, "")
    assert (hosts.server.host, hosts.server.user, hosts.server.sudo) == ("nas", "bob", "none")
    assert [role.value for role in hosts.reached] == ["client", "server"]
    assert (hosts.through_mount, hosts.measures_link) == (False, True)


@pytest.mark.parametrize("subject", [FOLDER, URL, EXPORT, HOST])
def test_the_sweep_asks_for_speeds_of_both_ways_by_what_copies_there(subject: Subject) -> None:
    sweep, text = sweep_of(subject, run_name(subject))
    assert parse_sweep(text, Path(f"{sweep.name}.toml")) == sweep
    assert sweep.factors.names("tool") == tuple(tools(subject))
    assert sweep.factors.of("mtu") == (9000,)
    assert (sweep.effects, sweep.precision) == (("speed",), 0.1)


@at_most(50)
@given(target=st.text(max_size=100))
def test_every_target_gives_a_run_a_name(target: str) -> None:
    name = run_name(Subject(target, "smb", *NAS))
    assert sweep_of(FOLDER, name)[0].name == name


@pytest.mark.parametrize("folder", ["/mnt/my nas #1", "/mnt/a ;b", "/mnt/blank ", "/mnt/=[x]", "/mnt/„é“"])
def test_a_folder_of_any_name_is_taken_as_it_is(tmp_path: Path, folder: str) -> None:
    assert read(tmp_path, replace(FOLDER, target=folder, mounted=folder)).share.mounted == folder


@pytest.mark.parametrize("name", ["Media #1", "Media ;1", "é #", "a = [b]"])
def test_a_share_of_any_name_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    target = parse_target(f"smb://nas/{name}")
    assert isinstance(target, Url)
    assert read(tmp_path, replace(URL, target=str(target), share=target.share)).share.name == name


@pytest.mark.parametrize("text", ["[]", "1", "{", '{"client": 1}', '{"client": {"host": 1}}', "[" * 100_000])
def test_a_damaged_file_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(BadInput, match=r"x\.json: not "):
        load_hosts(tmp_path / "x.json")
