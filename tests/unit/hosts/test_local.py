"""This machine as a host: which process a command belongs to, how it is spoken with, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.sshd import gone
from support.waiting import wait_until

from lab.base.errors import DeadlineExceeded, HostError, HostLost
from lab.hosts import Nobody, Role
from lab.hosts.local import LocalConversation
from lab.hosts.processes import ACCOUNT_OF, IS_ALIVE, SSH_SESSION
from lab.hosts.ssh import SshHost


def test_a_command_belongs_to_the_lab_that_runs_it(here: SshHost) -> None:
    session = here.shell(IS_ALIVE + ACCOUNT_OF + SSH_SESSION + "ssh_session").stdout.split(maxsplit=1)
    assert session[0] == str(os.getpid())
    argv = ["/bin/sh", "-c", IS_ALIVE + 'started "$1"', "sh", str(os.getpid())]
    by_hand = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert session[1] == by_hand.stdout
    assert by_hand.stdout.strip()
    assert here.shell("pwd").stdout == "/\n"  # not the folder that one stands in


def test_a_command_that_ignores_all_but_a_kill_is_closed_with_its_children(tmp_path: Path) -> None:
    script = f'trap "" TERM HUP INT; sleep 600 & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/child; wait'
    conversation = LocalConversation(script, "")
    wait_until((tmp_path / "child").exists)
    conversation.close()
    assert gone((tmp_path / "child").read_text().strip())
    assert conversation.exit_code == 128 + signal.SIGKILL
    conversation.close()  # once more is no error: it has ended


def test_a_machine_that_starts_no_process_is_a_lost_host(here: SshHost, monkeypatch: pytest.MonkeyPatch) -> None:
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


ECHO = 'echo ready; while read -r line; do echo "you said $line"; done; echo bye; exit 3'


def test_lines_go_both_ways(here: SshHost) -> None:
    with here.converse("sh", "-c", ECHO, deadline_s=20) as dialogue:
        assert dialogue.next_line() == "ready"
        for word in ("one", "two words", "ümlaut"):
            dialogue.ask(word)
            assert dialogue.next_line() == f"you said {word}"
        result = dialogue.finish()
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (3, "bye")
    assert [dialogue.next_line(), dialogue.next_line()] == ["bye", ""]


def test_a_command_is_ended_with_its_context_and_at_its_deadline(here: SshHost) -> None:
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded), here.converse("sleep", "60", deadline_s=0.1) as dialogue:
        dialogue.next_line()
    assert time.monotonic() - began < 15
    with here.converse("sh", "-c", "echo $$; exec sleep 60", deadline_s=60) as dialogue:
        pid = dialogue.next_line()
    assert gone(pid)


def test_an_answer_takes_no_longer_than_a_moment(here: SshHost) -> None:
    script = "for line in iter(input, 'end'): print(line, flush=True)"
    with here.converse(sys.executable, "-c", script, deadline_s=30) as dialogue:
        dialogue.ask("x")
        dialogue.next_line()  # python has started
        took = []
        for _ in range(20):
            asked = time.monotonic()
            dialogue.ask("x")
            assert dialogue.next_line() == "x"
            took.append(time.monotonic() - asked)
        dialogue.ask("end")
        assert dialogue.finish().exit_code == 0
    assert min(took) < 0.05
