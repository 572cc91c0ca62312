"""Protocols: what programs say is understood, what they are told is right, and a new one is one new file."""

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import JSON
from support.fake_host import EmulatedHost, FakeHost
from support.pairs import OWN, share_of, side_of
from support.paths import LINUX_CAPTURES

from lab import protocols, workloads
from lab.base.errors import BadInput, LabFailure, Unsupported
from lab.protocols.afp.linux import LinuxAfp, parse_login
from lab.protocols.afp.macos import MacAfp
from lab.protocols.mounts import gvfs
from lab.protocols.smb.linux import LinuxSmb, parse_smbstatus
from lab.protocols.ssh import parse_verbose


def capture(name: str) -> str:
    return (LINUX_CAPTURES / name).read_text(encoding="utf-8")


def test_smbstatus_names_dialect_signing_and_encryption_of_the_newest_session() -> None:
    text = capture("smbstatus-two-sessions.json")
    made = {session["session_dialect"]: session for session in json.loads(text)["sessions"].values()}
    assert made["SMB2_10"]["creation_time"] > made["SMB3_11"]["creation_time"]
    assert int(made["SMB2_10"]["session_id"]) < int(made["SMB3_11"]["session_id"])
    assert parse_smbstatus(text) == {"dialect": "SMB2_10", "signing": "off", "encryption": "off"}
    text = capture("smbstatus-4.22.json")
    assert parse_smbstatus(text) == {"dialect": "SMB3_11", "signing": "off", "encryption": "off"}
    report = json.loads(text)
    (session,) = report["sessions"].values()
    session["encryption"] = {"cipher": "AES-128-GCM", "degree": "full"}
    session["signing"] = {"cipher": "AES-128-GMAC", "degree": "full"}
    negotiated = parse_smbstatus(json.dumps(report))
    assert (negotiated["encryption"], negotiated["signing"]) == ("AES-128-GCM", "AES-128-GMAC")
    session["signing"] = {"cipher": "", "degree": "none"}
    assert parse_smbstatus(json.dumps(report))["signing"] == "off"


@pytest.mark.parametrize("text", ["", "no json", "[]", "{}", '{"sessions": {}}', '{"sessions": []}', '{"sessions": 3}',
                                  '{"sessions": {"1": {}}}', '{"sessions": {"1": 1}}'])  # fmt: skip
def test_an_smbstatus_that_cannot_be_understood_is_an_error(text: str) -> None:
    with pytest.raises(Unsupported, match="smbstatus --json printed something else"):
        parse_smbstatus(text)


@given(JSON)
def test_no_smbstatus_whatever_is_another_error(sessions: Any) -> None:
    for report in (sessions, {"sessions": sessions}, {"sessions": {"1": sessions}}):
        with pytest.raises(Unsupported):
            parse_smbstatus(json.dumps(report))


def test_the_afp_version_is_found_in_a_real_log(tmp_path: Path) -> None:
    """The log has several lines about a login; only one of them has the version."""
    login = "Nov 21 01:01:36 afpd[158] {auth.c:245} (note:AFPDaemon): Login by lab (AFP3.3)"
    assert parse_login(login) == {"dialect": "AFP 3.3"}
    assert parse_login("… login lab (uid 1000, gid 1000) AFP3.4") == {"dialect": "AFP 3.4"}
    assert parse_login("… Login by lab (AFP2.2)") == {"dialect": "AFP 2.2"}
    assert parse_login("… {uams_dhx2_passwd.c:261} (info:ad): DHX2 login: lab") == parse_login("") == {}
    (tmp_path / "afp").mkdir()
    (tmp_path / "afp" / "afpd.log").write_text(capture("afpd.log"))
    host = EmulatedHost(tmp_path, {}, ["sh", "grep", "tail"], "server")
    side = side_of(host, "linux", "192.0.2.2", str(tmp_path), "root")
    assert LinuxAfp().read_negotiated(side, share_of()) == {"dialect": "AFP 3.3"}


def test_ssh_says_version_and_cipher() -> None:
    negotiated = {"dialect": "OpenSSH_10.0p2", "cipher": "chacha20-poly1305@openssh.com"}
    assert parse_verbose(capture("ssh-v.txt")) == negotiated
    assert parse_verbose("") == {}


@given(st.text(), st.text(), st.sampled_from(["smb", "afp", "nfs"]))
def test_an_address_of_gvfs_holds_any_name_and_decodes_to_it(user: str, path: str, scheme: str) -> None:
    uri = gvfs.share_uri(scheme, user, "192.0.2.2", path)
    parts = urlsplit(uri)
    assert uri.isascii()
    assert (parts.scheme, parts.hostname, parts.port) == (scheme, "192.0.2.2", None)
    assert parts.query == parts.fragment == ""
    assert unquote(parts.username or "") == user
    assert unquote(parts.path) == "/" + path.strip("/")
    assert not set(uri) & set(" '\"\\`$\n")


def test_a_domain_stays_one() -> None:
    assert gvfs.share_uri("smb", "WORKGROUP;me", "192.0.2.2", "a share") == "smb://WORKGROUP;me@192.0.2.2/a%20share"
    assert gvfs.share_uri("nfs", "", "192.0.2.2", "/srv/disk") == "nfs://192.0.2.2/srv/disk"


GIO = """
IFS= read -r password
printf '%s\n' "$password" >> given
[ $(grep -c . given) -ge {succeeds_at} ] || {{ echo "gio: {says}" >&2; exit 2; }}
"""


def gio(folder: Path, **how: Any) -> EmulatedHost:
    commands = {"gio": GIO.format(**how), "timeout": 'shift; exec "$@"', "sleep": ""}
    return EmulatedHost(folder, commands, ["sh", "grep", "cat", "env"])


def mounting(host: EmulatedHost, secret: str) -> Any:
    return gvfs.in_session(f"{host.folder}/gvfs", gvfs.MOUNT, "smb://me@192.0.2.2/lab", given=secret + "\n")


@pytest.mark.parametrize("secret", ["hunter2", " a b ", "back\\slash%s", "$HOME`id`'\""])
def test_gio_gets_the_password_on_its_input_and_a_failed_login_is_tried_again(tmp_path: Path, secret: str) -> None:
    host = gio(tmp_path, succeeds_at=3, says="x")
    mounting(host, secret).run(host)
    assert len(host.calls("gio")) == 3
    assert (tmp_path / "given").read_text() == f"{secret}\n" * 3
    assert not [call for call in host.calls() if secret in call]


def test_a_mount_that_never_works_says_why(tmp_path: Path) -> None:
    host = gio(tmp_path, succeeds_at=99, says="Password dialog cancelled")
    with pytest.raises(LabFailure, match="gio: Password dialog cancelled"):
        mounting(host, "hunter2").run(host)


def test_every_protocol_is_found_by_its_name_and_another_name_answered_with_the_known_ones() -> None:
    for name, port in {"afp": 548, "smb": 445, "nfs": 2049, "ssh": 22}.items():
        protocol = protocols.find(name)
        assert (protocol.name, protocol.port, protocol.mounted) == (name, port, name != "ssh")
        protocol.driver("linux")
    known = ", ".join(sorted(protocols.by_name()))
    with pytest.raises(BadInput, match=f"unknown protocol 'SMB'; known are {known}; did you mean 'smb'"):
        protocols.find("SMB")
    for find in (workloads.tool, workloads.payload):
        with pytest.raises(BadInput, match="unknown"):
            find("toy")
    with pytest.raises(Unsupported, match=r"nfs is not supported on plan9; it is on linux"):
        protocols.find("nfs").driver("plan9")


def test_a_new_protocol_is_one_new_file_and_a_module_that_offers_something_else_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = 'from lab.protocols.driver import Driver, Protocol\nPROTOCOL = Protocol("toy", 99, True, {"linux": Driver})\n'
    for name, text in {"toy": toy, "odd": "from lab.workloads.cp import TOOL as PROTOCOL\n"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text(text)
        monkeypatch.setattr(protocols, name, None, raising=False)  # so that it is taken out again
        monkeypatch.setattr(protocols, "__path__", [*protocols.__path__, str(tmp_path / name)])
        if name == "toy":
            assert protocols.find("toy").port == 99
            with pytest.raises(BadInput, match="known are afp, nfs, smb, ssh, toy"):
                protocols.find("x")
    with pytest.raises(TypeError, match=r"^lab\.protocols\.odd: PROTOCOL is no Protocol$"):
        protocols.find("smb")
    del sys.modules["lab.protocols.odd"], sys.modules["lab.protocols.toy"]


@pytest.mark.parametrize("driver", [LinuxSmb, LinuxAfp])
def test_a_server_of_another_system_is_not_asked_what_only_ours_tells(driver: type[LinuxSmb | LinuxAfp]) -> None:
    server = side_of(FakeHost("server"), "macos", "192.0.2.2", OWN, "me")  # which fails for whatever it is asked
    assert driver().read_negotiated(server, share_of()) == {}
    assert MacAfp().read_negotiated(server, server, share_of(), f"{OWN}/mnt") == ({}, {})
