"""This machine as a host: what a lab leaves here that was killed, and which process a command belongs to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from support.sshd import gone, wait_for

from lab.base.errors import HostError, HostLost
from lab.hosts import Nobody, Role, SshHost
from lab.hosts.host_config import HostConfig
from lab.hosts.local import LocalConversation
from lab.hosts.processes import END_ORPHANS, SSH_SESSION, STARTED

CONFIG = HostConfig(transport="local", sudo="none", data_address="192.0.2.1")
# a lab of its own, of which one command runs on and on; it says that command's pid
LAB = """
import sys
from lab.hosts import SshHost
from lab.hosts.host_config import HostConfig
host = SshHost("client", HostConfig(transport="local", sudo="none", data_address="192.0.2.1"))
host.shell('echo $$ > "$1.new"; mv "$1.new" "$1"; while :; do sleep 1; done', sys.argv[1], deadline_s=300)
"""


@pytest.fixture
def host() -> SshHost:
    return SshHost("client", CONFIG)


@contextmanager
def other_lab(file: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A lab beside this one, and the pid of its command on this machine, which ends with the test."""
    with subprocess.Popen([sys.executable, "-c", LAB, str(file)]) as process:
        try:
            wait_for(lambda: file.exists() or process.poll() is not None)
            yield process, file.read_text().strip()
        finally:
            process.kill()
            with suppress(OSError, ValueError):
                os.killpg(os.getpgid(int(file.read_text())), signal.SIGKILL)


def test_a_command_belongs_to_the_lab_that_runs_it(host: SshHost) -> None:
    session = host.shell(STARTED + SSH_SESSION + "ssh_session").stdout.split(maxsplit=1)
    assert session[0] == str(os.getpid())
    by_hand = subprocess.run(
        ["/bin/sh", "-c", STARTED + 'started "$1"', "sh", str(os.getpid())], capture_output=True, text=True, check=True
    )
    assert session[1] == by_hand.stdout
    assert by_hand.stdout.strip()


def test_what_a_killed_lab_left_is_ended_and_what_a_living_one_runs_is_not(host: SshHost, tmp_path: Path) -> None:
    with other_lab(tmp_path / "killed") as (killed, lost), other_lab(tmp_path / "living") as (_, kept):
        host.shell(END_ORPHANS + "end_orphans", deadline_s=60)
        assert not _has_ended(lost)
        killed.kill()
        killed.wait()
        host.shell(END_ORPHANS + "end_orphans", deadline_s=60)
        assert gone(lost)
        assert not _has_ended(kept)


def _has_ended(pid: str) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_a_command_that_ignores_all_but_a_kill_is_closed_with_its_children(tmp_path: Path) -> None:
    script = f'trap "" TERM HUP INT; sleep 600 & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/child; wait'
    conversation = LocalConversation(script, "")
    wait_for((tmp_path / "child").exists)
    conversation.close()
    assert gone((tmp_path / "child").read_text().strip())
    assert conversation.exit_code == 128 + signal.SIGKILL
    conversation.close()  # once more is no error: it has ended


def test_a_machine_that_starts_no_process_any_more_is_a_lost_host(
    host: SshHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr("lab.hosts.local.LocalConversation", refuse)
    with pytest.raises(HostLost, match="the connection to this machine was lost: Resource temporarily unavailable"):
        host.run("true")


def test_a_server_that_nobody_logs_in_to_says_so_for_every_command() -> None:
    server = Nobody(Role.SERVER)
    for command in (lambda: server.run("true"), lambda: server.shell("true", root=True), server.reconnect):
        with pytest.raises(HostError, match=r"server: nobody logs in there: \[server\] of the hosts file has no host"):
            command()
    server.close()
