"""Sessions that are open before a command needs one: a command then takes one round trip, not two."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import paramiko
import pytest
from support.sshd import ONLY_PARAMIKO
from support.waiting import wait_until

from lab.base.errors import HostError
from lab.hosts.paramiko import SPARE_SESSIONS, ParamikoConnection
from lab.hosts.ssh import SshHost

pytestmark = ONLY_PARAMIKO


class Opened:
    """The sessions that a host's connection opened, and their threads."""

    def __init__(self, host: SshHost, patch: pytest.MonkeyPatch, refuse_after: int = 1000):
        assert isinstance(host.connection, ParamikoConnection)
        self.connection = host.connection
        self.threads: list[int] = []
        self.sessions: list[paramiko.Channel] = []
        really = self.connection.transport.open_session

        def open_session(**named: Any) -> paramiko.Channel:
            self.threads.append(threading.get_ident())
            if len(self.threads) > refuse_after:
                raise paramiko.ChannelException(4, "resource shortage")
            self.sessions.append(really(**named))
            return self.sessions[-1]

        patch.setattr(self.connection.transport, "open_session", open_session)

    @property
    def by_commands(self) -> int:
        """The number of sessions that commands had to open for themselves."""
        return self.threads.count(threading.get_ident())

    def settle(self) -> None:
        """Wait until no session is being opened."""
        wait_until(lambda: not self.connection._sessions._coming)


def test_only_one_command_opens_a_session(connect: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch) -> None:
    host = connect()
    opened = Opened(host, monkeypatch)
    for number in range(5):
        assert host.run("echo", str(number)).stdout == f"{number}\n"
    opened.settle()
    assert opened.by_commands == 1
    assert len(opened.sessions) == 5 + SPARE_SESSIONS


def test_a_closed_spare_session_is_not_used(connect: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch) -> None:
    host = connect()
    opened = Opened(host, monkeypatch)
    host.run("true")
    opened.settle()
    for session in opened.sessions[-SPARE_SESSIONS:]:
        session.close()
    assert host.run("echo", "well").stdout == "well\n"
    assert opened.by_commands == 2


def test_a_host_that_allows_one_session(connect: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch) -> None:
    """The host grants the first command a session, and refuses every other."""
    host = connect()
    opened = Opened(host, monkeypatch, refuse_after=1)
    assert host.run("echo", "well").stdout == "well\n"
    opened.settle()
    with pytest.raises(HostError, match="resource shortage"):
        host.run("true")
    monkeypatch.undo()
    assert host.run("echo", "again").stdout == "again\n"


def test_commands_that_begin_at_once_all_find_a_session(connect: Callable[..., SshHost]) -> None:
    host = connect()
    with ThreadPoolExecutor(6) as threads:
        printed = list(threads.map(lambda number: host.run("echo", str(number)).stdout, range(6)))
    assert printed == [f"{number}\n" for number in range(6)]


def test_waiting_for_a_session_has_a_deadline(connect: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch) -> None:
    host = connect()
    opened, go_on = Opened(host, monkeypatch), threading.Event()
    really = opened.connection.transport.open_session

    def hang(timeout: float, **_: Any) -> paramiko.Channel:
        if not go_on.wait(timeout):
            raise paramiko.SSHException("Timeout opening channel.")
        return really(timeout=timeout)

    host.run("true")
    opened.settle()
    monkeypatch.setattr(opened.connection.transport, "open_session", hang)
    for _ in range(SPARE_SESSIONS):
        host.run("true")
    started = time.monotonic()
    with pytest.raises(HostError):
        host.run("true", deadline_s=0.3)
    assert time.monotonic() - started < 15
    go_on.set()
    assert host.run("echo", "again").stdout == "again\n"
