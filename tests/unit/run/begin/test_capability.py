"""What two hosts cannot do of a sweep is said before anything is changed."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr
from support.fake_host import FakeHost
from support.input_files import HOSTS
from support.pairs import UNSEEN, hosts_model, pair_of, side_of
from support.parts import case_of
from support.sweeps import sweep_with

from lab.base.errors import Absent, Closed, Unsupported
from lab.design.case import Case
from lab.design.sweep_file import Sweep
from lab.hosts import ROLES, Role
from lab.hosts.hosts_file import load_hosts
from lab.platforms import Facts
from lab.platforms.linux.files import LinuxPrograms
from lab.platforms.macos.platform import MacOS
from lab.protocols import Driver, Side
from lab.run.begin.capability import (
    Capability,
    check_store_tools,
    check_tcp_buffer,
    check_unseen_server,
    describe_idle_buffers,
    describe_left_out,
)
from lab.run.case.pair import Pair
from lab.run.case.sharing import Shares

GIB = 2**30
FACTS = Facts("mini", "macos", "macOS 13.7 (22H123)", "Darwin", "M1", 8, 2**34, 2**33, "you", False, "/", "en0", 1500)


def pair(folder: Path, serve: str = "lab") -> Pair:
    """Two Macs of macOS 13, as far as they describe themselves."""
    path = folder / "hosts.ini"
    path.write_text(HOSTS.replace("[share]", f"[share]\nserve = {serve}\npath = /srv"))
    hosts = {role: FakeHost(role) for role in ROLES}
    macs = {role: MacOS(host) for role, host in hosts.items()}
    sides = {role: Side(hosts[role], "macos", "192.0.2.1", "/x", "you", lambda _: "") for role in ROLES}
    return Pair(hosts, load_hosts(path), "t", macs, dict.fromkeys(ROLES, replace(FACTS, tcp_space_max=7454720)), sides)


def case(protocol: str = "smb", tcp_space: int | str = 65536) -> Case:
    return case_of(protocol=protocol, tcp_space=tcp_space)


def test_a_buffer_that_is_too_large_is_refused_with_the_largest(tmp_path: Path) -> None:
    made = pair(tmp_path)
    for fits in (7454720, "default"):
        check_tcp_buffer(made, Role.CLIENT, case(tcp_space=fits))
    with pytest.raises(Unsupported, match=r"client: tcp_space = 8388608 bytes: it takes at most 7454720"):
        check_tcp_buffer(made, Role.CLIENT, case(tcp_space=8 * 2**20))
    check_tcp_buffer(pair(tmp_path, "existing"), Role.SERVER, case(tcp_space=8 * 2**20))  # which is not tuned


def test_buffers_that_change_nothing_are_reported_once_with_what_would(tmp_path: Path) -> None:
    cases = [case("smb"), case("smb", 131072), case("ssh"), case("nfs", "default")]
    assert list(describe_idle_buffers(pair(tmp_path), cases)) == [
        "client: tcp_space changes nothing for smb: it asks for 8 MiB, and for less where it does not get them; "
        "kern.ipc.maxsockbuf, which can be lowered until the next restart, would"
    ]
    assert list(describe_idle_buffers(pair(tmp_path), [case("smb", "default")])) == []


@pytest.mark.parametrize("platform", ["linux", "macos"])
def test_a_tool_of_one_platform_is_left_out_elsewhere(tmp_path: Path, platform: str) -> None:
    side = side_of(FakeHost("client"), platform, "192.0.2.1", "/lab", "me")
    able = Capability(Shares(replace(pair(tmp_path), sides={Role.CLIENT: side}), SecretStr("")))
    driver: Any = SimpleNamespace(attaches_with={}, mount_method=lambda _: "", cannot_attach=lambda *_: "")
    is_elsewhere = platform != "macos"
    with pytest.raises(Absent, match="client: ditto is a program of macos") if is_elsewhere else nullcontext():
        able._check_client(case_of(tool="ditto"), driver)


@pytest.fixture
def closed_for_smb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Capability:
    """The capability of two Macs; the server keeps SMB closed."""

    def check_lab_server(_: Capability, case: Case, __: Driver) -> None:
        if case.protocol == "smb":
            raise Closed("macOS keeps no password of joe that SMB can use", "tick the account there", host="server")

    monkeypatch.setattr(Capability, "_check_client", lambda *_: None)
    monkeypatch.setattr(Capability, "_check_lab_server", check_lab_server)
    monkeypatch.setattr(MacOS.ram_disks_class, "check", lambda *_: None)
    return Capability(Shares(pair(tmp_path), SecretStr("")))


def test_a_protocol_that_is_closed_is_left_out_with_what_would_open_it(closed_for_smb: Capability) -> None:
    cases = [case("smb"), case("smb", 131072), case("nfs")]
    why = "server: macOS keeps no password of joe that SMB can use: tick the account there"
    assert closed_for_smb.left_out(cases) == {closed.case_id: why for closed in cases[:2]}
    assert closed_for_smb.closed == {"smb": why}
    assert list(describe_left_out(dict.fromkeys(["a", "b"], why))) == [f"left out (2 cases): {why}"]


def test_a_sweep_of_closed_protocols_alone_does_not_begin(closed_for_smb: Capability) -> None:
    with pytest.raises(Unsupported, match="tick the account there"):
        closed_for_smb.left_out([case("smb")])


COLD, SIGNED = case_of("read", server_cache="cold"), case_of(**{"smb.dialect": "3.0", "smb.signing": "true"})
MOUNTED = "smb.dialect, smb.signing: /mnt/nas was mounted by somebody else: leave that out, or let the lab mount"


@pytest.mark.parametrize(
    ("asked", "share", "message"),
    [
        (COLD, {}, "server_cache = cold: nobody logs in to the server: leave it out of"),
        (case("ssh"), {}, r"ssh: nobody logs in to the server: give \[server\] host in the hosts file"),
        (SIGNED, {"mounted": "/mnt/nas"}, MOUNTED),
    ],
)
def test_what_needs_a_login_or_our_own_mount_is_refused(asked: Case, share: Mapping[str, str], message: str) -> None:
    with pytest.raises(Unsupported, match=message):
        check_unseen_server(asked, pair_of(hosts_model(server=UNSEEN, share=share)))


@pytest.mark.parametrize(("asked", "name"), [(COLD, "server_cache = cold"), (case("ssh"), "ssh")])
def test_what_would_change_a_server_that_is_only_watched_is_refused(asked: Case, name: str) -> None:
    config = hosts_model().watching(Unsupported("the server is only watched (perl is missing)", "install perl"))
    with pytest.raises(Unsupported, match=rf"{name}: the server is only watched \(perl is missing\)"):
        check_unseen_server(asked, pair_of(config))
    assert config.or_tune("server") == "; the server is only watched (perl is missing): install perl"
    assert config.or_tune("client") == ", or tune = yes in [client] of the hosts file"


def test_what_needs_neither_is_not_refused() -> None:
    check_unseen_server(case_of(**{"smb.signing": "true"}), pair_of(hosts_model(server=UNSEEN)))
    for asked in (COLD, case("ssh")):
        check_unseen_server(asked, pair_of(hosts={Role.SERVER: FakeHost("server")}))


class Server(LinuxPrograms):
    """The programs of a server, without those that it lacks; bonnie++ has this version."""

    host: FakeHost

    def __init__(self, *lacking: str, version: str = "2.00a"):
        host = FakeHost("server")
        host.on(("bonnie++", "-h"), stderr=f"usage:\n\nVersion: {version}\n", exit_code=1)
        super().__init__(host)
        self.lacking = lacking

    def missing(self, programs: Any) -> list[str]:
        return [name for name in programs if name in self.lacking]

    def how_to_install(self, packages: str, or_else: str = "") -> str:
        return f"`apt-get install {packages}` there, or {or_else}"


def with_store(programs: Server, free_bytes: int = 100 * GIB) -> Pair:
    facts = SimpleNamespace(memory_bytes=4 * GIB, home="/home/me")
    files = SimpleNamespace(free_bytes=lambda path: free_bytes if path == "/srv/share" else None)
    platform = SimpleNamespace(programs=programs, files=files)
    return pair_of(hosts={"server": programs.host}, platforms={"server": platform}, facts={"server": facts})


def sweep_of_tools(*tools: str, store: str = "ram disk", **more: Any) -> Sweep:
    return sweep_with(store_tools=list(tools), factors={"store": store.split()}, **more)


def test_dd_is_everywhere_and_a_sweep_that_leaves_the_disk_alone_needs_no_tools() -> None:
    server = Server("bonnie++")
    for sweep in (sweep_of_tools("dd"), sweep_of_tools("bonnie++", store="ram")):
        check_store_tools(with_store(server), sweep)
    assert server.host.sent == []


@pytest.mark.parametrize(
    ("server", "tool", "message"),
    [
        (Server("bonnie++"), "bonnie++", r"store_tools needs bonnie\+\+.*apt-get install bonnie\+\+"),
        (Server("fio"), "fio", "store_tools needs fio.*apt-get install fio"),
        (Server(version="1.03d"), "bonnie++", r"is version 1\.03d"),
    ],
)
def test_a_tool_that_is_missing_or_of_another_version_is_named(server: Server, tool: str, message: str) -> None:
    with pytest.raises(Unsupported, match=message):
        check_store_tools(with_store(server), sweep_of_tools("dd", tool))


def test_twice_the_memory_must_fit_unless_a_smaller_size_is_asked_for() -> None:
    with pytest.raises(Unsupported, match=rf"bonnie\+\+ needs .*{8 * GIB} are free: make room there, .*bonnie_size"):
        check_store_tools(with_store(Server(), 8 * GIB), sweep_of_tools("bonnie++"))
    check_store_tools(with_store(Server(), 8 * GIB), sweep_of_tools("bonnie++", bonnie_size="1 GiB"))
    check_store_tools(with_store(Server(), 9 * GIB), sweep_of_tools("bonnie++"))
