"""A subject as a hosts file and a sweep: what is written reads back as it was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most

from lab.base.errors import BadInput
from lab.design.sweep_file import parse_sweep
from lab.hosts.hosts_file import load_hosts
from lab.measure.subject import Subject
from lab.measure.texts import hosts_text, run_name, sweep_text, tools
from lab.platforms import Facts

FACTS = Facts(
    "mac", "linux", "Debian", "Linux 6", "cpu", 2, 1 << 30, 1 << 30, "ann", False, "/home/ann", "eth0", 9000,
    tools={"rsync": "3.4"},
)  # fmt: skip
FOLDER = Subject("/mnt/nas", "smb", "nas", "192.0.2.2", "192.0.2.1", FACTS, mounted="/mnt/nas", share="media")
URL = Subject(
    "smb://bob@nas/media/a b", "smb", "nas", "192.0.2.2", "192.0.2.1", FACTS, share="media", folder="a b", account="bob"
)
EXPORT = Subject("nfs://nas/srv", "nfs", "nas", "192.0.2.2", "192.0.2.1", FACTS, share="/srv", account="ann")
HOST = Subject("bob@nas", "ssh", "nas", "192.0.2.2", "192.0.2.1", FACTS, login="bob@nas")


def read(tmp_path: Path, subject: Subject, iperf3: str = "off") -> Any:
    path = tmp_path / "share.ini"
    path.write_text(hosts_text(subject, "shm", 1 << 30, iperf3, "env:SECRET"))
    return load_hosts(path)


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
    assert not hosts.through_mount
    assert hosts.measures_link


@pytest.mark.parametrize("subject", [FOLDER, URL, EXPORT, HOST])
def test_the_sweep_asks_for_speeds_of_both_ways_by_what_copies_there(subject: Subject) -> None:
    sweep = parse_sweep(sweep_text(subject, run_name(subject)), Path("measure.toml"))
    assert sweep.factors.names("tool") == tuple(tools(subject))
    assert sweep.factors.of("mtu") == (9000,)
    assert (sweep.effects, sweep.precision) == (("speed",), 0.1)


@at_most(50)
@given(target=st.text(max_size=100))
def test_every_target_gives_a_run_a_name(target: str) -> None:
    name = run_name(Subject(target, "smb", "nas", "192.0.2.2", "192.0.2.1", FACTS))
    parse_sweep(sweep_text(FOLDER, name), Path("measure.toml"))


@pytest.mark.parametrize("folder", ["/mnt/my nas #1", "/mnt/a ;b", "/mnt/blank "])
def test_what_a_hosts_file_cannot_say_is_refused_and_not_cut_short(folder: str) -> None:
    subject = Subject(folder, "smb", "nas", "192.0.2.2", "192.0.2.1", FACTS, mounted=folder)
    with pytest.raises(BadInput, match="cannot stand in a hosts file"):
        hosts_text(subject, "shm", 1 << 30, "off", "prompt")
