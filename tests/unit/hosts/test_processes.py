"""The shell functions that tell processes apart, run for real on this system."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.fake_host import EmulatedHost

from lab.hosts.openssh import MASTER
from lab.hosts.processes import ANY_OF, END_ORPHANS, IS_ALIVE, SSH_SESSION, STARTED


def shell(text: str, *args: str) -> str:
    """What a script prints."""
    done = subprocess.run(["/bin/sh", "-c", text, "sh", *args], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


@contextmanager
def process(*argv: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own, which is killed at the end."""
    with subprocess.Popen(argv, start_new_session=True) as started:
        try:
            yield started
        finally:
            started.kill()


def test_a_process_is_alive_with_its_own_start_only() -> None:
    with process("sleep", "60") as sleeper:
        pid = str(sleeper.pid)
        start = shell(STARTED + 'started "$1"', pid)
        assert start
        alive = IS_ALIVE + 'if is_alive "$1" "$2"; then echo yes; else echo no; fi'
        assert shell(alive, pid, start) == "yes"
        assert shell(alive, pid, f"{start}0") == "no"
        sleeper.kill()
        os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # from here on a zombie
        assert shell(alive, pid, start) == "no"


def test_of_a_group_something_runs_until_all_have_ended() -> None:
    any_of = ANY_OF + 'if any_of "$1"; then echo yes; else echo no; fi'
    with process("/bin/sh", "-c", "sleep 60 & exit 0") as leader:
        leader.wait()
        assert shell(any_of, str(leader.pid)) == "yes"
        os.killpg(leader.pid, 9)
        deadline = time.monotonic() + 30
        while shell(any_of, str(leader.pid)) == "yes":
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_the_nearest_ssh_server_is_named_or_none() -> None:
    pid, _, start = shell(STARTED + SSH_SESSION + "ssh_session").partition(" ")
    assert pid.isdigit()
    assert start


MARK = '/bin/sh -c echo "file-share-lab:$$" >&2; sleep 60'
TABLE = f"""
cat <<'END'
    1     0     1 /sbin/init
   50     1    50 SERVER
   70     1    70 {MARK}
   80    50    80 {MARK}
   90     1    90 ssh mini {MARK}
END
echo "$PPID 50 $PPID sh"
"""


@pytest.mark.parametrize(("server", "orphans"), [("sshd: lab", "-70\n"), ("cron", "")])
def test_a_command_without_its_ssh_server_is_an_orphan(tmp_path: Path, server: str, orphans: str) -> None:
    """Of three commands one has lost its server, and one is what sent it; without one above us nothing is told."""
    host = EmulatedHost(tmp_path, {"ps": TABLE.replace("SERVER", server)}, ("sh", "awk", "cat"))
    assert host.shell(f"{END_ORPHANS}orphans; :").stdout == orphans


def test_a_control_master_ends_with_the_pipe_and_its_folder_goes(tmp_path: Path) -> None:
    folder = tmp_path / "control"
    folder.mkdir()
    argv = ["/bin/sh", "-c", MASTER, "sh", str(folder), "sleep", "60"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True) as master:
        assert master.stdin is not None
        master.stdin.close()
        assert master.wait(30) == -15
    deadline = time.monotonic() + 30
    while folder.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
