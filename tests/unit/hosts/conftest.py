"""Fixtures for connecting over SSH as one person does: with a home and an agent, or without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.sshd import TRANSPORTS, empty_home, reached_by

from lab.hosts import SshHost, paramiko
from lab.hosts.host_config import HostConfig


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, and no agent: nothing of the person who runs the tests is used or changed."""
    empty_home(monkeypatch, tmp_path)
    return tmp_path


@pytest.fixture
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


LOCAL = HostConfig(transport="local", sudo="none", data_address="192.0.2.1")
OVER_ALL = [*(pytest.param((name, "plain"), id=name) for name in TRANSPORTS), ("local", "")]


@pytest.fixture(scope="module", params=OVER_ALL, ids=lambda param: param[0])
def any_config(request: pytest.FixtureRequest) -> HostConfig:
    """How to reach a host by each transport: a transport, and the key of one that logs in."""
    transport, key = request.param
    if transport == "local":
        return LOCAL
    found: HostConfig = reached_by(request, request.getfixturevalue("one_sshd")).config(key, transport=transport)
    return found


@pytest.fixture
def connect_any(any_config: HostConfig) -> Iterator[Callable[[], SshHost]]:
    """Makes hosts of a test's own, by each transport."""
    made: list[SshHost] = []

    def make() -> SshHost:
        made.append(SshHost("client", any_config))
        return made[-1]

    yield make
    for host in made:
        host.close()
