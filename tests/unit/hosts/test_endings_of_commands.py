"""How commands end: at a deadline, or by a signal. On this machine; tests/scenarios/ssh runs the same over SSH."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.memory_host import lab_signals
from support.sshd import gone
from support.sshd_fixtures import pass_once
from support.waiting import wait_until

from lab.base.errors import DeadlineExceeded, Interrupted
from lab.hosts.ssh import SshHost


def written(file: Path) -> bool:
    return file.is_file() and file.read_text().endswith("\n")


# a child of a child, and one that does not listen to TERM
FAMILY = 'sh -c "trap : TERM; while :; do sleep 1; done" & echo $$ $! > "$1"; sleep 60; wait'


def test_a_deadline_ends_the_command_and_its_children(
    connect_any: Callable[[], SshHost], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = connect_any()
    pass_once(monkeypatch, lambda: written(tmp_path / "pids"))
    with pytest.raises(DeadlineExceeded, match=r"did not end within 99 s and was ended") as caught:
        host.shell("echo so far; " + FAMILY, str(tmp_path / "pids"), deadline_s=99)
    assert "so far" in caught.value.output
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)
    assert host.run("echo", "still here").stdout == "still here\n"


def test_a_deadline_counts_for_output_that_never_ends(connect_any: Callable[[], SshHost]) -> None:
    with pytest.raises(DeadlineExceeded):
        connect_any().run("yes", deadline_s=0.2)


def test_a_signal_to_the_lab_ends_the_remote_command(connect_any: Callable[[], SshHost], tmp_path: Path) -> None:
    host, pids = connect_any(), tmp_path / "pids"

    def interrupt() -> None:
        wait_until(lambda: written(pids))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with lab_signals():
        thread.start()
        with pytest.raises(Interrupted, match="SIGINT"):
            host.shell(FAMILY, str(pids), deadline_s=50)
        thread.join()
    assert all(gone(pid) for pid in pids.read_text().split())
