"""Fixtures for connecting over SSH to a real sshd, as one person does: with a home and an agent, or without."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from lab.hosts import paramiko
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
    """Makes connections of a test's own, which it may break."""
    with ExitStack() as stack:
        yield lambda key="plain", **changes: stack.enter_context(
            closing(SshHost("client", sshd.config(key, **changes)))
        )


@pytest.fixture
def wire(sshd: Sshd) -> Iterator[Wire]:
    wire_to_sshd = Wire(sshd.port)
    # the address differs from the one on record, so the key is put on record for it too
    known = sshd.folder / "known_hosts"
    known.write_text(
        known.read_text() + f"[127.0.0.1]:{wire_to_sshd.port} {(sshd.folder / 'host_key.pub').read_text()}"
    )
    yield wire_to_sshd
    wire_to_sshd.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, and no agent: nothing of the person who runs the tests is used or changed."""
    empty_home(monkeypatch, tmp_path)
    return tmp_path


@pytest.fixture
def proxies(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[paramiko.Proxy]]:
    """Every proxy that a test starts; none of them may be left over."""
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
    """How to reach a host over either transport: for the tests of tests/unit/hosts, which run on this machine there."""
    transport, key = request.param
    return one_sshd.config(key, transport=transport)


@pytest.fixture
def connect_any(any_config: HostConfig) -> Iterator[Callable[[], SshHost]]:
    """Makes hosts of a test's own, by each transport."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(SshHost("client", any_config)))
