"""Connecting to a real sshd: the lab finds the host as ssh does, and every failure says what to do."""

import base64
import hashlib
import pwd
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.sshd import ONLY_PARAMIKO, Sshd, make_key, refused, works
from support.sshd_fixtures import nas, ssh_config, write_config

from lab.base.errors import BadInput, HostKeyError
from lab.hosts.hosts_file import load_hosts

pytestmark = pytest.mark.usefixtures("home", "proxies")


def fingerprint(public: Path) -> str:
    """Computed from its definition, not by the code under test."""
    digest = hashlib.sha256(base64.b64decode(public.read_text().split()[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def test_the_hosts_file_alone_is_enough(sshd: Sshd) -> None:
    assert works(sshd.config())


def test_an_unknown_host_key_is_refused_with_the_way_to_accept_it(sshd: Sshd, home: Path) -> None:
    empty = home / "known"
    message = refused(sshd.config(known_hosts=str(empty)), HostKeyError)
    assert message.startswith(f"client: {sshd.user}@127.0.0.1: unknown host key: ssh-ed25519 ")
    assert fingerprint(sshd.folder / "host_key.pub") in message
    assert "`ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`" in message
    accept = f"ssh -p {sshd.port} -o UserKnownHostsFile={empty} {sshd.user}@127.0.0.1"
    assert message.endswith(f"accept it with: {accept}")
    assert not empty.exists()


def test_a_changed_host_key_is_refused_with_both_fingerprints(sshd: Sshd, home: Path) -> None:
    known = home / ".ssh" / "known_hosts"
    known.write_text(f"[127.0.0.1]:{sshd.port} {make_key(home / 'other')}\n")
    message = refused(sshd.config(known_hosts=None), HostKeyError)
    assert "the host key has CHANGED" in message
    on_record = fingerprint(home / "other.pub") if sshd.transport == "paramiko" else f"that of {known}:1"
    assert message.index(fingerprint(sshd.folder / "host_key.pub")) < message.index(on_record)
    assert message.endswith(f"ssh-keygen -R '[127.0.0.1]:{sshd.port}'")


def test_a_key_or_an_account_that_may_not_log_in_is_explained(sshd: Sshd) -> None:
    message = refused(sshd.config("stranger"))
    assert message.startswith(f"client: {sshd.user}@127.0.0.1: SSH refused the login: ")
    assert f"`ssh-copy-id {sshd.user}@127.0.0.1`" in message
    assert "client: nobody-here@127.0.0.1: SSH refused the login" in refused(sshd.config(user="nobody-here"))


def test_an_account_without_any_key_is_told_so_and_a_name_without_an_address_in_words(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    message = refused(sshd.config(identity=""))
    assert "SSH refused the login: " in message
    assert sshd.transport == "openssh" or "this account has no key, neither in a file nor in an agent: " in message
    assert "Errno" not in refused(sshd.config(host="no-such-host.invalid"))


def test_a_key_that_is_missing_is_named_with_the_hosts_file(sshd: Sshd, home: Path) -> None:
    assert "[client] identity: there is no key" in refused(sshd.config("no-such-key"), BadInput)
    path = home / "hosts.ini"
    client = "[client]\nhost = a\ndata_address = 192.0.2.1\nidentity = /no/key\n"
    path.write_text(f"{client}[server]\nhost = b\ndata_address = 192.0.2.2\n[share]\naccount = me\n")
    assert refused(load_hosts(path).client, BadInput) == f"{path}: [client] identity: there is no key /no/key"


def test_a_home_that_nobody_has_is_named(sshd: Sshd, home: Path) -> None:
    for key in ("identity", "known_hosts"):
        message = refused(sshd.config(**{key: "~no-such-user-here/x"}), BadInput)
        assert message.startswith(f"[client] {key}: ~no-such-user-here/x: there is no such home folder")
    write_config(home, ssh_config(sshd, UserKnownHostsFile="~no-such-user-here/x"))
    assert "~/.ssh/config: UserKnownHostsFile: ~no-such-user-here/x: there is no" in refused(nas(sshd), BadInput)


def test_a_controller_without_a_home_says_so(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_such_user(uid: int) -> Any:
        raise KeyError(uid)

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", no_such_user)
    assert "there is no such home folder; give the full path, or set HOME" in refused(sshd.config(), BadInput)


def test_a_name_without_an_address_is_explained(sshd: Sshd) -> None:
    assert "client: " in refused(sshd.config(host="no-such-host.invalid"))


@pytest.mark.parametrize("name", ["mac..local", f"{'a' * 64}.local", ".local"])
def test_a_name_that_cannot_be_looked_up_is_explained(sshd: Sshd, home: Path, name: str) -> None:
    assert f"[client] host: {name} cannot be looked up: " in refused(sshd.config(host=name), BadInput)
    write_config(home, ssh_config(sshd, HostName=name))
    assert f"[client] host: {name} cannot be looked up: " in refused(nas(sshd), BadInput)


def test_a_key_that_is_none_is_explained(sshd: Sshd, home: Path) -> None:
    for content in (b"not a key\n", b"\xff\xfe\0"):
        (home / "garbage").write_bytes(content)
        assert "client: " in refused(sshd.config(identity=str(home / "garbage")))


@ONLY_PARAMIKO  # ssh ignores such lines
def test_known_hosts_that_cannot_be_read_are_named(sshd: Sshd, home: Path) -> None:
    known = home / "known"
    for content in (b"host ssh-ed25519 AAAAB\n", b"\xff\xfe\xff\n"):
        known.write_bytes(content)
        assert f"{known}: not a file of known hosts" in refused(sshd.config(known_hosts=str(known)), BadInput)


def test_a_port_where_nobody_listens_is_explained(sshd: Sshd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    message = refused(sshd.config(port=port))
    assert f"cannot be reached on port {port}: " in message
    assert "Connection refused: is it on" in message
    assert "is it on, is SSH (Remote Login) on, and does `ssh -p" in message


NOT_SSHD = """
import socket, sys, threading
from lab.hosts.host_config import HostConfig
from lab.base.errors import HostError
from lab.hosts import openssh, paramiko
from lab.hosts.ssh import SshHost
openssh.CONNECT_DEADLINE_S = paramiko.CONNECT_DEADLINE_S = 1
server = socket.create_server(("127.0.0.1", 0))
def answer():
    taken, _ = server.accept()
    taken.sendall(sys.argv[1].encode())
    taken.recv(1000)
threading.Thread(target=answer, daemon=True).start()
try:
    port = server.getsockname()[1]
    where = {"host": "127.0.0.1", "port": port, "user": "me", "data_address": "192.0.2.1"}
    SshHost("client", HostConfig(**where, transport=sys.argv[2]))
except HostError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("transport", "banner"), [("paramiko", "HTTP/1.1 400 Bad Request\r\n\r\n" * 99), ("paramiko", ""), ("openssh", "")]
)
def test_a_server_that_is_no_sshd_is_explained_without_a_traceback(banner: str, transport: str) -> None:
    """A process of its own shows what goes to the log: here the test runner would take it."""
    command = [sys.executable, "-c", NOT_SSHD, banner, transport]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert "cannot be reached on port" in done.stdout
    assert done.stderr == ""
