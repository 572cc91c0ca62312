"""What a sweep asks of TCP buffers and RAM disks that a Mac cannot do: said before anything is changed."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pydantic import SecretStr
from support.fake_host import FakeHost
from support.input_files import HOSTS
from support.sides import side_of

from lab.base.errors import Absent, Closed, Unsupported
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import ROLES, Role
from lab.hosts.hosts_file import load_hosts
from lab.platforms import Facts
from lab.platforms.macos.platform import MacOS
from lab.protocols import Driver, Side
from lab.run.begin.capability import Capability, check_tcp_buffer, describe_idle_buffers, describe_left_out
from lab.run.case.pair import Pair
from lab.run.case.sharing import Shares

FACTS = Facts("mini", "macos", "macOS 13.7 (22H123)", "Darwin", "M1", 8, 2**34, 2**33, "you", False, "/", "en0", 1500)


def pair(folder: Path, serve: str = "lab") -> Pair:
    """Two Macs of macOS 13, of which only what they say is there."""
    path = folder / "hosts.ini"
    path.write_text(HOSTS.replace("[share]", f"[share]\nserve = {serve}\npath = /srv"))
    hosts = {role: FakeHost(role) for role in ROLES}
    macs = {role: MacOS(host) for role, host in hosts.items()}
    return Pair(hosts, load_hosts(path), "t", macs, dict.fromkeys(ROLES, replace(FACTS, tcp_space_max=7454720)), {})


def case(protocol: str = "smb", tcp_space: int | str = 65536) -> Case:
    return Case(protocol, "cp", Direction.WRITE, 1500, tcp_space, "ram", "file", 2**20)


def test_a_buffer_that_is_too_large_is_refused_with_the_largest(tmp_path: Path) -> None:
    made = pair(tmp_path)
    for fits in (7454720, "default"):
        check_tcp_buffer(made, Role.CLIENT, case(tcp_space=fits))
    with pytest.raises(Unsupported, match=r"client: tcp_space = 8388608 bytes: it takes at most 7454720"):
        check_tcp_buffer(made, Role.CLIENT, case(tcp_space=8 * 2**20))
    check_tcp_buffer(pair(tmp_path, "existing"), Role.SERVER, case(tcp_space=8 * 2**20))  # which is not tuned


def test_where_buffers_change_nothing_is_told_once_with_what_would(tmp_path: Path) -> None:
    cases = [case("smb"), case("smb", 131072), case("ssh"), case("nfs", "default")]
    lines = list(describe_idle_buffers(pair(tmp_path), cases))
    assert lines == [
        "client: tcp_space changes nothing for smb: it asks for 8 MiB, and for less where it does not get them; "
        "kern.ipc.maxsockbuf, which can be lowered until the next restart, would"
    ]
    assert list(describe_idle_buffers(pair(tmp_path), [case("smb", "default")])) == []


@pytest.mark.parametrize(("platform", "why"), [("linux", "client: ditto is a program of macos"), ("macos", "")])
def test_a_tool_of_one_platform_is_left_out_elsewhere(tmp_path: Path, platform: str, why: str) -> None:
    made = replace(
        pair(tmp_path), sides={Role.CLIENT: side_of(FakeHost("client"), platform, "192.0.2.1", "/lab", "me")}
    )
    driver = SimpleNamespace(attaches_with={}, mount_method=lambda _: "", cannot_attach=lambda *_: "")
    able = Capability(Shares(made, SecretStr("")))
    asked = replace(case(), tool="ditto")
    if not why:
        able._check_client(asked, cast(Driver, driver))
        return
    with pytest.raises(Absent, match=why):
        able._check_client(asked, cast(Driver, driver))


def with_sides(of: Pair) -> Pair:
    sides = {role: Side(of.hosts[role], "macos", "192.0.2.1", "/x", "you", lambda _: "") for role in ROLES}
    return replace(of, sides=sides)


def closed_for_smb(monkeypatch: pytest.MonkeyPatch) -> None:
    def served_by(protocol: str) -> str:
        if protocol == "smb":
            raise Closed("macOS keeps no password of joe that SMB can use", "tick the account there", host="server")
        return protocol

    monkeypatch.setattr(Capability, "_check_client", lambda *_: None)
    monkeypatch.setattr(Capability, "_check_lab_server", lambda _, case, __: served_by(case.protocol))


def test_a_protocol_that_is_closed_is_left_out_with_what_would_open_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed_for_smb(monkeypatch)
    capability = Capability(Shares(with_sides(pair(tmp_path)), SecretStr("")))
    monkeypatch.setattr(MacOS.ram_disks_class, "check", lambda *_: None)
    cases = [case("smb"), case("smb", 131072), case("nfs")]
    why = "server: macOS keeps no password of joe that SMB can use: tick the account there"
    assert capability.left_out(cases) == {each.case_id: why for each in cases[:2]}
    assert capability.closed == {"smb": why}
    assert list(describe_left_out(dict.fromkeys(["a", "b"], why))) == [f"left out (2 cases): {why}"]


def test_a_sweep_of_closed_protocols_alone_does_not_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed_for_smb(monkeypatch)
    monkeypatch.setattr(MacOS.ram_disks_class, "check", lambda *_: None)
    with pytest.raises(Unsupported, match="tick the account there"):
        Capability(Shares(with_sides(pair(tmp_path)), SecretStr(""))).left_out([case("smb")])
