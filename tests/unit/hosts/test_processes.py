"""The shell functions that tell processes apart, run for real on this system."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.fake_host import EmulatedHost
from support.waiting import wait_until

from lab.hosts.openssh import MASTER
from lab.hosts.processes import ACCOUNT_OF, ANY_OF, END_ORPHANS, ENDING, IS_ALIVE, SSH_SESSION


def shell(text: str, *args: str) -> str:
    """What a script prints."""
    argv = ["/bin/sh", "-c", text, "sh", *args]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


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
        start = shell(IS_ALIVE + 'started "$1"', pid)
        assert start
        session, _, began = shell(IS_ALIVE + ACCOUNT_OF + SSH_SESSION + "ssh_session").partition(" ")
        assert session.isdigit()  # of the nearest SSH server, or 0
        assert began
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
        wait_until(lambda: shell(any_of, str(leader.pid)) == "no")
        assert shell(any_of, str(leader.pid)) == "no"


MARK = '/bin/sh -c echo "file-share-lab:$$" >&2; sleep 60'
TABLE = f"""
cat <<'END'
    1     0     1     0     0 /sbin/init
   50     1    50  1000  1000 SERVER
   70     1    70  1000  1000 {MARK}
   80    50    80  1000  1000 {MARK}
   90     1    90  1000  1000 ssh mini {MARK}
ROWS
END
echo "$PPID 50 $PPID 1000 1000 sh"
"""
OURS, OTHERS, ROOTS, MIXED = "1000 1000", "65534 65534", "0 0", "1000 0"


def find_orphans(folder: Path, server: str, rows: str = "", account: str = "1000", **environment: str) -> list[str]:
    """The groups of orphans by this table of processes, for an account."""
    commands = {"ps": TABLE.replace("SERVER", server).replace("ROWS", rows), "id": f"echo {account}"}
    host = EmulatedHost(folder, commands, ("sh", "awk", "cat"))
    variables = "".join(f"{name}={value}\n" for name, value in environment.items())
    return host.shell(f"{variables}{ENDING}{END_ORPHANS}orphans; :").stdout.split()


@pytest.mark.parametrize(("server", "orphans"), [("sshd: lab", ["70"]), ("cron", [])])
def test_a_command_without_its_ssh_server_is_an_orphan(tmp_path: Path, server: str, orphans: list[str]) -> None:
    """One of three commands has lost its server, and one is its sender. Without a server above us none is an orphan."""
    assert find_orphans(tmp_path, server) == orphans


def row(pid: int, group: int, accounts: str, words: str = MARK) -> str:
    return f"  {pid}     1    {group}  {accounts} {words}"


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([row(60, 60, OTHERS)], id="somebody else's"), pytest.param([row(60, 59, OURS)], id="no leader"),
        pytest.param([row(60, 61, OTHERS), row(61, 61, ROOTS, "nginx: master")], id="a worker in a group of root's"),
        pytest.param([row(60, 61, OURS), row(61, 61, ROOTS, "nginx: master")], id="the account's in such a group"),
        pytest.param([row(60, 61, OURS), row(61, 61, OTHERS, "sh")], id="the account's in somebody else's group"),
        pytest.param([row(60, 60, OURS), row(61, 60, OTHERS, "sh")], id="somebody else in the account's group"),
        pytest.param([row(60, 60, "65534 0")], id="set-uid"), pytest.param([row(60, 60, "65534 1000")], id="set to us"),
        pytest.param([row(60, 60, ROOTS)], id="root's, where the lab is an account's without sudo"),
    ],
)  # fmt: skip
def test_words_that_anybody_may_have_end_nobody_elses_group(tmp_path: Path, rows: list[str]) -> None:
    assert find_orphans(tmp_path, "sshd: lab", "\n".join(rows)) == ["70"]


SUDO, NARROW = {"SUDO_UID": "1000"}, {"FILE_SHARE_LAB_ACCOUNT": "1000"}


@pytest.mark.parametrize(
    ("rows", "environment", "orphans"),
    [
        pytest.param([row(60, 60, ROOTS)], {}, ["60"], id="root's own"),
        pytest.param([row(60, 61, ROOTS), row(61, 61, ROOTS, f"bash -c {MARK}")], {}, ["61"], id="of a login shell"),
        pytest.param([row(60, 61, ROOTS), row(61, 61, ROOTS, "nginx: master")], {}, [], id="in a daemon's group"),
        pytest.param([row(60, 60, ROOTS), row(61, 60, OTHERS, "sh")], {}, [], id="with somebody else"),
        pytest.param([row(60, 60, "65534 0")], {}, [], id="a set-uid program"),
        pytest.param([row(60, 60, OURS)], {}, [], id="another account's"),
        pytest.param([row(60, 60, OURS), row(61, 60, MIXED, "sudo mount"), row(62, 60, ROOTS, "mount")], SUDO,
                     ["60", "70"], id="of who has sudo, with what it runs as root"),
        pytest.param([row(60, 60, ROOTS), row(61, 61, "1001 1001"), row(62, 62, OURS)], NARROW, ["62", "70"],
                     id="of who has a narrow sudo, alone"),
    ],
)  # fmt: skip
def test_root_ends_what_it_or_its_caller_began(tmp_path: Path, rows: list[str], environment: Any, orphans: Any) -> None:
    assert sorted(find_orphans(tmp_path, "sshd: root", "\n".join(rows), "0", **environment)) == orphans


def test_orphans_are_waited_for_then_asked_and_ended_whatever_the_clock_says(tmp_path: Path) -> None:
    """One that no signal ends: after 3 s it is asked, after 6 s ended, and after 12 s left alone."""
    script = END_ORPHANS + "orphans() { echo 70; }\nsignal() { echo $2; }\nend_orphans"
    host = EmulatedHost(tmp_path, {"sleep": ""}, ("sh",))
    signals = host.shell(script).stdout.split()
    assert [signals.count("TERM"), signals.count("KILL")] == [9 * 5 + 1, 6 * 5 + 1]
    assert host.calls() == ["sleep 0.2"] * 12 * 5


def test_a_control_master_ends_with_the_pipe_and_its_folder_goes(tmp_path: Path) -> None:
    folder = tmp_path / "control"
    folder.mkdir()
    argv = ["/bin/sh", "-c", MASTER, "sh", str(folder), "sleep", "60"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True) as master:
        assert master.stdin is not None
        master.stdin.close()
        assert master.wait(30) == -15
    wait_until(lambda: not folder.exists())
    assert not folder.exists()
