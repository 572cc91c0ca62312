"""The Perl scripts of hosts: what they make of words and files, and how they end."""

import errno
import fcntl
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from support.host_scripts import run_script

from lab.hosts.command import run_perl
from lab.platforms.files import NEW
from lab.platforms.macos.files import COPY_UNCACHED
from lab.platforms.network import CONNECT
from lab.settings.background import LEAD
from lab.settings.host_journal import ALONE, FILES, NOTE, SESSION
from lab.workloads.file import NOISE

# --- files and folders


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 7])
def test_a_file_is_copied_past_the_cache_to_one_that_is_not_there(size: int, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(os.urandom(size))
    copy = run_perl(COPY_UNCACHED, "source", "target")
    assert run_script(copy, tmp_path) == (0, "", "")
    assert (tmp_path / "target").read_bytes() == (tmp_path / "source").read_bytes()
    assert run_script(copy, tmp_path) == (errno.EEXIST, "", "target: File exists\n")
    missing = (errno.ENOENT, "", "none: No such file or directory\n")
    assert run_script(run_perl(COPY_UNCACHED, "none", "other"), tmp_path) == missing


@pytest.mark.parametrize("mode", ["700", "711", "1777"])
def test_a_folder_is_made_once_and_for_an_account(mode: str, tmp_path: Path) -> None:
    make = run_perl(NEW, mode, "")
    assert run_script(make, tmp_path, "new") == (0, "", "")
    assert (tmp_path / "new").stat().st_mode & 0o7777 == int(mode, 8)
    assert run_script(make, tmp_path, "new") == (errno.EEXIST, "", "new: File exists\n")
    (tmp_path / "link").symlink_to("elsewhere")
    assert run_script(make, tmp_path, "link")[0] == errno.EEXIST
    code, _, error = run_script(run_perl(NEW, mode, "nobody-of-this-name"), tmp_path, "other")
    assert (code != 0, error) == (True, "nobody-of-this-name: no such account\n")


def test_a_note_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    text = '{"a": "\u00e9"}\n'
    assert run_script(run_perl(NOTE), tmp_path, f"one\n{text}more\n") == (0, "", "")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("one", text)]
    missing = (errno.ENOENT, "", "missing/one.part: No such file or directory\n")
    assert run_script(run_perl(NOTE), tmp_path, f"missing/one\n{text}") == missing


def test_names_are_removed_and_moved(tmp_path: Path) -> None:
    def call(line: str) -> tuple[int, str, str]:
        return run_script(("/bin/sh", "-c", FILES + line), tmp_path)

    for name in ("a-000001", "a-000001.armed", "a-000001.off", "b-000001"):
        (tmp_path / name).write_text(name)
    assert call("printf '%s\\n' a-000001 'a-000001.*' missing | remove") == (0, "", "")
    assert [file.name for file in tmp_path.iterdir()] == ["b-000001"]
    assert [call("move b-000001 c"), call("move b-000001 c")] == [(0, "", ""), (1, "", "")]
    assert (tmp_path / "c").read_text() == "b-000001"


def test_a_folder_is_had_alone(tmp_path: Path) -> None:
    for code, line in ((0, ":"), (7, "exit 7")):
        assert run_script(run_perl(ALONE, "sh", "-c", line), tmp_path) == (code, "", "")
    assert run_script(run_perl(ALONE, "sh", "-c", "read -r line; echo $line"), tmp_path, "x\n")[1] == "x\n"
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    argv = run_perl(ALONE, "sh", "-c", "echo inside")
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(0.2)
        os.close(folder)
        assert waiting.communicate(timeout=60)[0] == "inside\n"


# --- what turns into a command

WHO = "echo $$ $(ps -o sess= -p $$)"


@pytest.mark.parametrize("leads", [False, True])
def test_a_command_leads_a_session_of_its_own_and_is_named_if_missing(leads: bool, tmp_path: Path) -> None:
    text, file = (LEAD, [str(tmp_path / "process")]) if leads else (SESSION, [])
    _, out, error = run_script(run_perl(text, *file, "sh", "-c", WHO), tmp_path)
    pid, session = out.split()
    assert (pid, error) == (session, "")
    if leads:
        lines = (tmp_path / "process").read_text().splitlines()
        assert (lines[0], len(lines), bool(lines[1])) == (pid, 2, True)
        missing = f"{tmp_path}/missing/process.part: No such file or directory\n"
        argv = run_perl(text, str(tmp_path / "missing/process"), "true")
        assert run_script(argv, tmp_path) == (errno.ENOENT, "", missing)
    code, out, error = run_script(run_perl(text, *file, str(tmp_path / "nosuch")), tmp_path)
    assert (code, out) == (errno.ENOENT, "")
    assert error.splitlines()[-1] == f"{tmp_path}/nosuch: No such file or directory"


@pytest.mark.parametrize("text", [LEAD, SESSION, ALONE])
def test_a_command_is_ended_by_a_closed_pipe_as_any_other(text: str, tmp_path: Path) -> None:
    """Python ignores that signal, and what it turns into would."""
    file = [str(tmp_path / "process")] if text == LEAD else []
    code, out, _ = run_script(run_perl(text, *file, "sh", "-c", "kill -s PIPE $$; echo survived"), tmp_path)
    assert out == ""
    assert text == ALONE or code == -signal.SIGPIPE


# --- the network, and noise


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_port_answers_or_not(family: socket.AddressFamily, address: str, tmp_path: Path) -> None:
    with socket.socket(family) as server:
        try:
            server.bind((address, 0))
        except OSError:
            pytest.skip(f"this machine has no {address}")
        port = str(server.getsockname()[1])
        for answer in ("no", "yes"):
            assert run_script(run_perl(CONNECT, address, port), tmp_path) == (0, f"{answer}\n", "")
            server.listen()


def test_noise_replaces_and_follows_nothing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "there").write_text("kept")
    os.mkfifo(tmp_path / "fifo")

    def call(mode: str, name: str) -> tuple[int, str, str]:
        return run_script(run_perl(NOISE, mode, name, "10", "a"), tmp_path)

    assert call("make", "there") == (errno.EEXIST, "", "there: File exists\n")
    assert call("make", "link") == (errno.EEXIST, "", "link: File exists\n")
    assert call("check", "link") == (errno.ELOOP, "", "link: Too many levels of symbolic links\n")
    assert call("check", "missing") == (errno.ENOENT, "", "missing: No such file or directory\n")
    code, out, error = call("check", "fifo")
    assert (code != 0, out, error) == (True, "", "fifo: no file\n")
    assert (tmp_path / "there").read_text() == "kept"
