"""This machine as a host: which process a command belongs to, and how it ends."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from support.sshd import gone, wait_for

from lab.base.errors import HostError, HostLost
from lab.hosts import Nobody, Role
from lab.hosts.local import LocalConversation
from lab.hosts.processes import ACCOUNT_OF, IS_ALIVE, SSH_SESSION
from lab.hosts.ssh import SshHost


def test_a_command_belongs_to_the_lab_that_runs_it(here: SshHost) -> None:
    session = here.shell(IS_ALIVE + ACCOUNT_OF + SSH_SESSION + "ssh_session").stdout.split(maxsplit=1)
    assert session[0] == str(os.getpid())
    by_hand = subprocess.run(
        ["/bin/sh", "-c", IS_ALIVE + 'started "$1"', "sh", str(os.getpid())], capture_output=True, text=True, check=True
    )
    assert session[1] == by_hand.stdout
    assert by_hand.stdout.strip()


def test_a_command_does_not_run_in_the_folder_that_one_stands_in(here: SshHost) -> None:
    assert here.shell("pwd").stdout == "/\n"


def test_a_command_that_ignores_all_but_a_kill_is_closed_with_its_children(tmp_path: Path) -> None:
    script = f'trap "" TERM HUP INT; sleep 600 & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/child; wait'
    conversation = LocalConversation(script, "")
    wait_for((tmp_path / "child").exists)
    conversation.close()
    assert gone((tmp_path / "child").read_text().strip())
    assert conversation.exit_code == 128 + signal.SIGKILL
    conversation.close()  # once more is no error: it has ended


def test_a_machine_that_starts_no_process_any_more_is_a_lost_host(
    here: SshHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr("lab.hosts.local.LocalConversation", refuse)
    with pytest.raises(HostLost, match="the connection to this machine was lost: Resource temporarily unavailable"):
        here.run("true")


def test_a_server_that_nobody_logs_in_to_says_so_for_every_command() -> None:
    server = Nobody(Role.SERVER)
    for command in (lambda: server.run("true"), lambda: server.shell("true", root=True), server.reconnect):
        with pytest.raises(HostError, match=r"server: nobody logs in there: \[server\] of the hosts file has no host"):
            command()
    server.close()
