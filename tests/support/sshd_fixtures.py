"""Fixtures for SSH connections to a real sshd, ~/.ssh/config and proxies, and deadlines that pass."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.hosts import connection, paramiko, ssh
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
from support.sshd import TRANSPORTS, Sshd, Wire, empty_home, reached_by, running


@pytest.fixture(scope="module")
def one_sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    folder = tmp_path_factory.mktemp("sshd")
    with running(folder) as server, pytest.MonkeyPatch.context() as patch:
        empty_home(patch, folder)
        yield server


@pytest.fixture(scope="module", params=TRANSPORTS)
def sshd(one_sshd: Sshd, request: pytest.FixtureRequest) -> Sshd:
    """One server, over either transport."""
    return reached_by(request, one_sshd)


@pytest.fixture
def connect(sshd: Sshd) -> Iterator[Callable[..., SshHost]]:
    """Makes connections that a test may break."""
    with ExitStack() as stack:
        yield lambda key="plain", **changes: stack.enter_context(
            closing(SshHost("client", sshd.config(key, **changes)))
        )


@pytest.fixture
def wire(sshd: Sshd) -> Iterator[Wire]:
    wire_to_sshd = Wire(sshd.port)
    # the relay has another port, so its key must be recorded, too
    known = sshd.folder / "known_hosts"
    known.write_text(
        known.read_text() + f"[127.0.0.1]:{wire_to_sshd.port} {(sshd.folder / 'host_key.pub').read_text()}"
    )
    yield wire_to_sshd
    wire_to_sshd.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    empty_home(monkeypatch, tmp_path)
    return tmp_path


@pytest.fixture
def proxies(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[paramiko.Proxy]]:
    """Every proxy that a test starts; none may be left over."""
    started: list[paramiko.Proxy] = []

    class Watched(paramiko.Proxy):
        def __init__(self, command: str):
            super().__init__(command)
            started.append(self)

    monkeypatch.setattr(paramiko, "Proxy", Watched)
    yield started
    assert [proxy.process.args for proxy in started if proxy.process.poll() is None] == []


@pytest.fixture(scope="module", params=[(name, "plain") for name in TRANSPORTS], ids=TRANSPORTS)
def any_config(one_sshd: Sshd, request: pytest.FixtureRequest) -> HostConfig:
    """A host over either transport, for the tests of tests/unit/hosts, which use this machine there."""
    transport, key = request.param
    return one_sshd.config(key, transport=transport)


@pytest.fixture
def connect_any(any_config: HostConfig) -> Iterator[Callable[[], SshHost]]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(SshHost("client", any_config)))


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


def relay(sshd: Sshd, host: str = "127.0.0.1", port: str = "") -> str:
    script = sshd.folder / "relay.py"
    script.write_text(RELAY)
    return f"{sys.executable} {script} {host} {port or sshd.port}"


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


def pass_once(patch: pytest.MonkeyPatch, is_so: Callable[[], bool]) -> None:
    """Let every deadline of up to 1000 s pass once ``is_so`` returns true, which then stays so."""

    def monotonic() -> float:
        return time.monotonic() + (1000 if is_so() else 0)

    for module in (connection, ssh):
        patch.setattr(module, "time", SimpleNamespace(monotonic=monotonic, sleep=time.sleep))
