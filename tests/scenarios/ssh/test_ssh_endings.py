"""How commands over SSH end: at a deadline, by a signal, or because the connection did; nothing waits for ever."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paramiko
import pytest
from support.sshd import ONLY_PARAMIKO, Wire
from support.sshd_fixtures import pass_once
from support.waiting import wait_until
from unit.hosts import test_endings_of_commands as endings

from lab.base.errors import CommandError, DeadlineExceeded, HostError
from lab.hosts import ssh as ssh_module
from lab.hosts.paramiko import ParamikoConnection
from lab.hosts.ssh import SshHost


def transport_of(host: SshHost) -> paramiko.Transport:
    assert isinstance(host.connection, ParamikoConnection)
    return host.connection.transport


# runs until it is ended, at the latest when its connection ends
ON_AND_ON = "while echo tick; do sleep 0.1; done"


test_a_deadline_ends_the_command_and_its_children = pytest.mark.parametrize(
    "any_config", [("paramiko", "plain"), ("paramiko", "noisy"), ("openssh", "noisy")], indirect=True
)(endings.test_a_deadline_ends_the_command_and_its_children)
test_a_deadline_counts_for_output_that_never_ends = endings.test_a_deadline_counts_for_output_that_never_ends
test_a_signal_to_the_lab_ends_the_remote_command = endings.test_a_signal_to_the_lab_ends_the_remote_command


def test_a_connection_that_breaks_stays_broken(connect: Callable[..., SshHost], wire: Wire, tmp_path: Path) -> None:
    host = connect(port=wire.port)
    began = tmp_path / "began"

    def cut() -> None:
        wait_until(lambda: endings.written(began))
        wire.cut()

    thread = threading.Thread(target=cut)
    thread.start()
    lost = r"client: the connection to 127\.0\.0\.1 was lost during /bin/sh: .*(closed|reset|broken)"
    with pytest.raises(HostError, match=f"(?i){lost}") as caught:
        host.shell('echo > "$1"; ' + ON_AND_ON, str(began), deadline_s=300)
    thread.join()
    assert not isinstance(caught.value, CommandError)
    started = time.monotonic()
    with pytest.raises(HostError, match="was lost"):
        host.run("true")
    assert time.monotonic() - started < 15


@ONLY_PARAMIKO
def test_the_end_of_input_may_come_late(connect: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread sends it, and on a busy machine a short command may end before."""
    host = connect()
    transport, sending = transport_of(host), "_send_user_message"
    send = getattr(transport, sending)

    def send_late(message: paramiko.Message) -> None:
        if message.asbytes()[:1] == paramiko.common.cMSG_CHANNEL_EOF:
            time.sleep(0.2)
        send(message)

    monkeypatch.setattr(transport, sending, send_late)
    for given in ["", "a line\n"] * 2:
        assert host.run("echo", "done", given=given).stdout == "done\n"
    time.sleep(0.5)
    assert transport.is_active()


@pytest.mark.parametrize(
    ("sshd", "when"),
    [("paramiko", "before"), ("paramiko", "while opening"), ("paramiko", "during"), ("openssh", "before"),
     ("openssh", "during")],
    indirect=["sshd"],
)  # fmt: skip
def test_a_host_that_falls_silent_hangs_nothing(
    connect: Callable[..., SshHost], wire: Wire, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(ssh_module, "KILL_DEADLINE_S", 0.5)
    monkeypatch.setattr(ssh_module, "PID_DEADLINE_S", 0.5)
    host = connect(port=wire.port)
    if when == "before":
        wire.freeze()
    elif when == "during":
        threading.Timer(0.1, wire.freeze).start()
    else:
        transport = transport_of(host)
        real = transport.open_session

        def open_session(*args: Any, **kwargs: Any) -> Any:
            channel = real(*args, **kwargs)
            wire.freeze()
            return channel

        monkeypatch.setattr(transport, "open_session", open_session)
    started = time.monotonic()
    with pytest.raises(HostError):
        host.shell(ON_AND_ON, deadline_s=0.5)
    assert time.monotonic() - started < 50


@ONLY_PARAMIKO
@pytest.mark.parametrize("error", [EOFError(), OSError("Socket is closed"), paramiko.SSHException("no answer")])
def test_a_connection_that_ends_while_a_command_is_being_ended(
    connect: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Any call of paramiko may notice first, also a close, or the closer at a deadline."""
    host = connect()
    transport: Any = transport_of(host)
    begin_really, send_really = SshHost._begin, transport._send_user_message
    begun: list[Any] = []

    def refuse(message: Any) -> None:
        raise error

    def begin(self: SshHost, *rest: Any) -> Any:
        conversation = begin_really(self, *rest)
        monkeypatch.setattr(transport, "_send_user_message", refuse)
        begun.append(conversation)
        return conversation

    monkeypatch.setattr(SshHost, "_begin", begin)
    pass_once(monkeypatch, lambda: bool(begun))
    with pytest.raises(DeadlineExceeded):
        host.shell(ON_AND_ON, deadline_s=50)
    monkeypatch.setattr(transport, "_send_user_message", send_really)


@ONLY_PARAMIKO
def test_an_impossible_answer_is_not_awaited(connect: Callable[..., SshHost], monkeypatch: pytest.MonkeyPatch) -> None:
    """If the connection ends just before paramiko waits, nothing wakes it, and the channel is already closed."""

    def wait_in_vain(channel: Any, _: str) -> None:
        channel.closed = True
        channel._event_pending()
        channel._wait_for_event()

    host = connect()
    monkeypatch.setattr(paramiko.Channel, "exec_command", wait_in_vain)
    with pytest.raises(DeadlineExceeded):
        host.run("true", deadline_s=0.2)
