"""Connecting over SSH, against a real sshd: the way is found as ssh finds it, and every failure says what to do."""

from __future__ import annotations

import base64
import hashlib
import pwd
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.sshd import ONLY_PARAMIKO, Sshd, empty_home, make_key, refused, running, works

from lab.base.errors import BadInput, HostKeyError
from lab.hosts import paramiko
from lab.hosts.hosts_file import HostConfig, load_hosts

# connects standard input and output to a port, and ends with either of them
RELAY = """
import os, select, socket, sys
end = socket.create_connection((sys.argv[1], int(sys.argv[2])))
while True:
    for ready in select.select([0, end], [], [])[0]:
        data = os.read(0, 65536) if ready == 0 else end.recv(65536)
        if not data:
            sys.exit()
        end.sendall(data) if ready == 0 else os.write(1, data)
"""


@pytest.fixture(scope="module")
def one_sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with running(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, and no agent: nothing of the person who runs the tests is used or changed."""
    empty_home(monkeypatch, tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def proxies(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[paramiko.Proxy]]:
    """Every proxy that a test starts; none of them may be left over."""
    made: list[paramiko.Proxy] = []

    class Watched(paramiko.Proxy):
        def __init__(self, command: str):
            super().__init__(command)
            made.append(self)

    monkeypatch.setattr(paramiko, "Proxy", Watched)
    yield made
    assert [proxy.process.args for proxy in made if proxy.process.poll() is None] == []


def relay(sshd: Sshd, host: str = "127.0.0.1", port: str = "") -> str:
    script = sshd.folder / "relay.py"
    script.write_text(RELAY)
    return f"{sys.executable} {script} {host} {port or sshd.port}"


def fingerprint(public: Path) -> str:
    """By the definition, not by the code under test."""
    digest = hashlib.sha256(base64.b64decode(public.read_text().split()[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def test_the_hosts_file_alone_is_enough(sshd: Sshd) -> None:
    assert works(sshd.config())


def test_an_unknown_host_key_is_refused_with_the_way_to_accept_it(sshd: Sshd, home: Path) -> None:
    empty = home / "known"
    said = refused(sshd.config(known_hosts=str(empty)), HostKeyError)
    assert said.startswith(f"client: {sshd.user}@127.0.0.1: unknown host key: ssh-ed25519 ")
    assert fingerprint(sshd.folder / "host_key.pub") in said
    assert "`ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`" in said
    accept = f"ssh -p {sshd.port} -o UserKnownHostsFile={empty} {sshd.user}@127.0.0.1"
    assert said.endswith(f"accept it with: {accept}")
    assert not empty.exists()


def test_a_changed_host_key_is_refused_with_both_fingerprints(sshd: Sshd, home: Path) -> None:
    known = home / ".ssh" / "known_hosts"
    known.write_text(f"[127.0.0.1]:{sshd.port} {make_key(home / 'other')}\n")
    said = refused(sshd.config(known_hosts=None), HostKeyError)
    assert "the host key has CHANGED" in said
    on_record = fingerprint(home / "other.pub") if sshd.transport == "paramiko" else f"that of {known}:1"
    assert said.index(fingerprint(sshd.folder / "host_key.pub")) < said.index(on_record)
    assert said.endswith(f"ssh-keygen -R '[127.0.0.1]:{sshd.port}'")


def test_a_key_that_may_not_log_in_is_explained(sshd: Sshd) -> None:
    said = refused(sshd.config("stranger"))
    assert said.startswith(f"client: {sshd.user}@127.0.0.1: SSH refused the login: ")
    assert f"`ssh-copy-id {sshd.user}@127.0.0.1`" in said


def test_an_account_that_is_not_there_is_explained(sshd: Sshd) -> None:
    assert "client: nobody-here@127.0.0.1: SSH refused the login" in refused(sshd.config(user="nobody-here"))


def test_a_key_that_is_missing_is_named(sshd: Sshd) -> None:
    assert "[client] identity: there is no key" in refused(sshd.config("no-such-key"), BadInput)


def test_a_key_that_is_missing_is_named_with_the_file(sshd: Sshd, home: Path) -> None:
    path = home / "hosts.ini"
    client = "[client]\nhost = a\ndata_address = 192.0.2.1\nidentity = /no/key\n"
    path.write_text(f"{client}[server]\nhost = b\ndata_address = 192.0.2.2\n[share]\naccount = me\n")
    assert refused(load_hosts(path).client, BadInput) == f"{path}: [client] identity: there is no key /no/key"


def test_a_home_that_nobody_has_is_named(sshd: Sshd, home: Path) -> None:
    for key in ("identity", "known_hosts"):
        said = refused(sshd.config(**{key: "~no-such-user-here/x"}), BadInput)
        assert said.startswith(f"[client] {key}: ~no-such-user-here/x: there is no such home folder")
    write_config(home, ssh_config(sshd, UserKnownHostsFile="~no-such-user-here/x"))
    assert "~/.ssh/config: UserKnownHostsFile: ~no-such-user-here/x: there is no" in refused(nas(sshd), BadInput)


def test_a_controller_without_a_home_says_so(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_such_user(uid: int) -> Any:
        raise KeyError(uid)

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", no_such_user)
    assert "there is no such home folder; give the full path, or set HOME" in refused(sshd.config(), BadInput)


@pytest.mark.parametrize("name", ["mac..local", f"{'a' * 64}.local", ".local"])
def test_a_name_that_cannot_be_looked_up_is_explained(sshd: Sshd, home: Path, name: str) -> None:
    assert f"[client] host: {name} cannot be looked up: " in refused(sshd.config(host=name), BadInput)
    write_config(home, ssh_config(sshd, HostName=name))
    assert f"[client] host: {name} cannot be looked up: " in refused(nas(sshd), BadInput)


def test_a_proxy_may_lead_to_a_name_of_any_form(sshd: Sshd, home: Path) -> None:
    known = (sshd.folder / "known_hosts").read_text().replace("127.0.0.1", "my..nas")
    (home / "known").write_text(known)
    assert works(sshd.config(host="my..nas", proxy_command=relay(sshd), known_hosts=str(home / "known")))


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
    said = refused(sshd.config(port=port))
    assert f"cannot be reached on port {port}: " in said
    assert "Connection refused: is it on" in said
    assert "is it on, is SSH (Remote Login) on, and does `ssh -p" in said


def test_a_name_that_nobody_knows_is_explained(sshd: Sshd) -> None:
    assert "client: " in refused(sshd.config(host="no-such-host.invalid"))


NOT_SSHD = """
import socket, sys, threading
from lab.hosts.hosts_file import HostConfig
from lab.base.errors import HostError
from lab.hosts import SshHost, openssh, paramiko
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
    ("transport", "banner"),
    [("paramiko", "HTTP/1.1 400 Bad Request\r\n\r\n" * 99), ("paramiko", ""), ("openssh", "")],
)
def test_a_server_that_is_no_sshd_is_explained_without_a_traceback(banner: str, transport: str) -> None:
    """In a process of its own: here the test runner would take what goes to the log."""
    command = [sys.executable, "-c", NOT_SSHD, banner, transport]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert "cannot be reached on port" in done.stdout
    assert done.stderr == ""


def write_config(home: Path, text: str) -> None:
    (home / ".ssh" / "config").write_text(text)


def ssh_config(sshd: Sshd, **changes: str) -> str:
    options = {
        "HostName": "127.0.0.1", "Port": str(sshd.port), "User": sshd.user,
        "IdentityFile": f"{sshd.folder}/plain", "UserKnownHostsFile": f"{sshd.folder}/known_hosts",
    }  # fmt: skip
    return "Host nas\n" + "".join(f"    {name} {value}\n" for name, value in (options | changes).items() if value)


def nas(sshd: Sshd, **changes: str) -> HostConfig:
    """A host of which ~/.ssh/config says the rest."""
    given = {"host": "nas", "data_address": "127.0.0.1", "sudo": "none", "transport": sshd.transport}
    return HostConfig.model_validate(given | changes)


def test_ssh_config_is_honoured(sshd: Sshd, home: Path) -> None:
    write_config(home, ssh_config(sshd))
    assert works(nas(sshd))


def test_the_home_folder_has_the_usual_files(sshd: Sshd, home: Path) -> None:
    write_config(home, ssh_config(sshd, IdentityFile="", UserKnownHostsFile=""))
    for source, target in (("plain", "id_ed25519"), ("known_hosts", "known_hosts")):
        (home / ".ssh" / target).touch(0o600)
        (home / ".ssh" / target).write_bytes((sshd.folder / source).read_bytes())
    assert works(nas(sshd))


def test_ssh_config_may_name_keys_that_do_not_exist(sshd: Sshd, home: Path) -> None:
    write_config(home, ssh_config(sshd) + "    IdentityFile ~/.ssh/id_of_another_machine\n")
    assert works(nas(sshd))


def test_the_hosts_file_wins_over_ssh_config(sshd: Sshd, home: Path) -> None:
    write_config(home, ssh_config(sshd, Port="1", User="nobody-here", IdentityFile="/no", ProxyCommand="false"))
    (home / "known").write_bytes((sshd.folder / "known_hosts").read_bytes())
    assert works(sshd.config(host="nas", proxy_command=relay(sshd), known_hosts=str(home / "known")))


@pytest.mark.parametrize("place", ["ssh_config", "hosts file"])
@pytest.mark.parametrize("port", ["22", "2222"])
def test_a_proxy_command_gets_host_and_port(sshd: Sshd, home: Path, port: str, place: str) -> None:
    """The address is one that nothing answers at: the proxy alone leads there, and the key is looked up under it."""
    name = "192.0.2.7" if port == "22" else f"[192.0.2.7]:{port}"
    (home / "known").write_text(f"{name} {(sshd.folder / 'host_key.pub').read_text()}")
    proxy = f"echo %h %p > {home}/asked; exec {relay(sshd)}"
    script = home / "proxy"
    script.write_text(f"#!/bin/sh\n{proxy.replace('%h %p', '$1 $2')}\n")
    script.chmod(0o755)
    options = {"HostName": "192.0.2.7", "Port": port, "UserKnownHostsFile": f"{home}/known"}
    command = f"{script} %h %p"
    write_config(home, ssh_config(sshd, **options, **({"ProxyCommand": command} if place == "ssh_config" else {})))
    assert works(nas(sshd) if place == "ssh_config" else nas(sshd, proxy_command=command))
    assert (home / "asked").read_text() == f"192.0.2.7 {port}\n"


@pytest.mark.parametrize(
    "text",
    [
        "Host nas\n    Port not-a-number\n", "Host nas\n    Port\n", "Match\n", "\xff\xfe",
        "Host nas\n    Port 99999\n", "Host nas\n    Port 0\n", "Host nas\n    Port 2_2\n",
        "Host nas\n    ProxyCommand a\0b\n", "CanonicalizeHostname yes\n",
    ],
)  # fmt: skip
def test_a_broken_ssh_config_is_named(sshd: Sshd, home: Path, text: str) -> None:
    (home / ".ssh" / "config").write_bytes(text.encode("latin-1"))
    assert f"{home}/.ssh/config: cannot be read: " in refused(nas(sshd), BadInput)


def test_a_port_that_is_none_is_named(sshd: Sshd, home: Path) -> None:
    write_config(home, ssh_config(sshd, Port="99999"))
    assert "cannot be read: Port 99999 is not a port from 1 to 65535" in refused(nas(sshd), BadInput)


@pytest.mark.parametrize("none", ["none", "None"])
@pytest.mark.parametrize("way", ["ProxyCommand", "ProxyJump"])
def test_a_proxy_command_of_none_is_no_proxy(sshd: Sshd, home: Path, none: str, way: str) -> None:
    """As in ssh; it wins over what ~/.ssh/config says."""
    write_config(home, ssh_config(sshd, **{way: "false"}))
    assert works(nas(sshd, proxy_command=none))


def test_a_proxy_that_fails_is_quoted(sshd: Sshd) -> None:
    said = refused(sshd.config(proxy_command="sh -c 'echo the lab is not up >&2; exit 1'"))
    assert "cannot be reached" in said
    assert "the lab is not up" in said


@ONLY_PARAMIKO
def test_a_refusal_through_a_proxy_leaves_no_process(sshd: Sshd, home: Path, proxies: list[paramiko.Proxy]) -> None:
    refused(sshd.config("stranger", proxy_command=relay(sshd)))
    refused(sshd.config(known_hosts=str(home / "none"), proxy_command=relay(sshd)), HostKeyError)
    assert len(proxies) == 2


INTERRUPTED = """
import os, signal, sys, time
from lab.hosts.hosts_file import HostConfig
from lab.hosts import SshHost
signal.signal(signal.SIGINT, lambda *_: print("interrupted", flush=True))
host = SshHost("client", HostConfig.model_validate_json(sys.argv[1]))
os.killpg(0, signal.SIGINT)  # as the terminal does at Ctrl-C
time.sleep(0.2)
print(host.run("echo", "put back").stdout, flush=True)
host.close()
"""


def test_a_proxy_survives_ctrl_c_so_that_things_can_be_put_back(sshd: Sshd) -> None:
    config = sshd.config(proxy_command=relay(sshd)).model_dump_json()
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, config],
        capture_output=True, text=True, timeout=30, start_new_session=True, check=False,
    )  # fmt: skip
    assert (done.stdout.split("\n")[:2], done.stderr) == (["interrupted", "put back"], "")
