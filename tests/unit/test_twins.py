"""Scripts of hosts in both their languages: the same words and files make the same of it, and end the same way."""

from __future__ import annotations

import ast
import errno
import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most
from support.fake_host import EmulatedHost
from support.interpreters import EACH, equipped, words_of

import lab
from lab.base.errors import CommandError
from lab.base.scripts import Script, in_python
from lab.hosts.command import Command, command, script, together
from lab.hosts.interpreter import (
    INSTALL_PYTHON,
    WHICH_PYTHON,
    for_python,
    join,
    parse_python,
    run_script,
    shell_function,
)
from lab.platforms.files import NEW
from lab.platforms.macos.platform import MacOS
from lab.platforms.network import CONNECT
from lab.settings.background import LEAD
from lab.settings.host_journal import ALONE, FILES, NOTE, SESSION
from lab.workloads.file import NOISE

TWINS = sorted(Path(lab.__file__).parent.rglob("*_twin.py"))
HELLO = Script("print 'hello from ', 'perl'", "print('hello from python')")


def run(python: str, text: str, *args: str, folder: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a script in a folder, under the locale that hosts have."""
    argv, environment = words_of(python, text, *args), os.environ | {"LC_ALL": "C"}
    return subprocess.run(argv, input=given, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


def said(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("file", TWINS, ids=lambda file: file.stem)
def test_a_twin_is_one_of_a_perl_script_and_of_the_python_of_the_command_line_tools(file: Path) -> None:
    source = file.read_text()
    ast.parse(source, feature_version=(3, 9))
    assert file.with_name(file.name.replace("_twin.py", ".pl")).exists()
    imported = re.findall(r"^(?:import|from) (\w+)", source, re.MULTILINE)
    assert set(imported) <= sys.stdlib_module_names


# --- files and folders


@EACH
@pytest.mark.parametrize("mode", ["700", "711", "1777"])
def test_a_folder_is_made_once_and_for_an_account(python: str, mode: str, tmp_path: Path) -> None:
    assert said(run(python, NEW, mode, "", folder=tmp_path, given="new")) == (0, "", "")
    assert (tmp_path / "new").stat().st_mode & 0o7777 == int(mode, 8)
    exists = (errno.EEXIST, "", "new: File exists\n")
    assert said(run(python, NEW, mode, "", folder=tmp_path, given="new")) == exists
    (tmp_path / "link").symlink_to("elsewhere")
    assert run(python, NEW, mode, "", folder=tmp_path, given="link").returncode == errno.EEXIST
    done = run(python, NEW, mode, "nobody-of-this-name", folder=tmp_path, given="other")
    assert (done.returncode != 0, done.stderr) == (True, "nobody-of-this-name: no such account\n")


@EACH
def test_a_note_is_there_whole_or_not_at_all(python: str, tmp_path: Path) -> None:
    text = '{"a": "\u00e9"}\n'
    assert said(run(python, NOTE, folder=tmp_path, given=f"one\n{text}more\n")) == (0, "", "")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("one", text)]
    done = run(python, NOTE, folder=tmp_path, given=f"missing/one\n{text}")
    assert said(done) == (errno.ENOENT, "", "missing/one.part: No such file or directory\n")


@EACH
def test_names_are_removed_and_moved(python: str, tmp_path: Path) -> None:
    def call(line: str) -> subprocess.CompletedProcess[str]:
        argv: tuple[str, ...] = ("/bin/sh", "-c", FILES + line)
        argv = for_python(python, argv, "")[0] if python else argv
        return subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    for name in ("a-000001", "a-000001.armed", "a-000001.off", "b-000001"):
        (tmp_path / name).write_text(name)
    assert said(call("printf '%s\\n' a-000001 'a-000001.*' missing | remove")) == (0, "", "")
    assert [file.name for file in tmp_path.iterdir()] == ["b-000001"]
    assert said(call("move b-000001 c")) == (0, "", "")
    assert said(call("move b-000001 c")) == (1, "", "")
    assert (tmp_path / "c").read_text() == "b-000001"


@EACH
def test_a_folder_is_had_alone(python: str, tmp_path: Path) -> None:
    for code, line in ((0, ":"), (7, "exit 7")):
        assert said(run(python, ALONE, "sh", "-c", f"{line}", folder=tmp_path)) == (code, "", "")
    assert said(run(python, ALONE, "sh", "-c", "read -r line; echo $line", folder=tmp_path, given="x\n"))[1] == "x\n"
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    argv = words_of(python, ALONE, "sh", "-c", "echo inside")
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(0.5)
        os.close(folder)
        assert waiting.communicate(timeout=60)[0] == "inside\n"


# --- what turns into a command

WHO = "echo $$ $(ps -o sess= -p $$)"


@EACH
@pytest.mark.parametrize("leads", [False, True])
def test_a_command_leads_a_session_of_its_own(python: str, leads: bool, tmp_path: Path) -> None:
    text, file = (LEAD, [str(tmp_path / "process")]) if leads else (SESSION, [])
    done = run(python, text, *file, "sh", "-c", WHO, folder=tmp_path)
    pid, session = done.stdout.split()
    assert (pid, done.stderr) == (session, "")
    if leads:
        lines = (tmp_path / "process").read_text().splitlines()
        assert lines[0] == pid
        assert len(lines) == 2
        assert lines[1]
        done = run(python, text, str(tmp_path / "missing/process"), "true", folder=tmp_path)
        missing = f"{tmp_path}/missing/process.part: No such file or directory\n"
        assert said(done) == (errno.ENOENT, "", missing)


@EACH
@pytest.mark.parametrize("leads", [False, True])
def test_a_command_that_is_missing_is_said(python: str, leads: bool, tmp_path: Path) -> None:
    text, file = (LEAD, [str(tmp_path / "process")]) if leads else (SESSION, [])
    done = run(python, text, *file, str(tmp_path / "nosuch"), folder=tmp_path)
    code, out, error = said(done)
    assert (code, out) == (errno.ENOENT, "")
    assert error.splitlines()[-1] == f"{tmp_path}/nosuch: No such file or directory"


@EACH
@pytest.mark.parametrize("text", [LEAD, SESSION, ALONE])
def test_a_command_is_ended_by_a_closed_pipe_as_any_other(python: str, text: str, tmp_path: Path) -> None:
    """Python ignores that signal, and what it turns into would."""
    file = [str(tmp_path / "process")] if text == LEAD else []
    done = run(python, text, *file, "sh", "-c", "kill -s PIPE $$; echo survived", folder=tmp_path)
    assert done.stdout == ""
    assert text == ALONE or done.returncode == -signal.SIGPIPE


# --- the network, and noise


@EACH
@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_port_answers_or_not(python: str, family: socket.AddressFamily, address: str, tmp_path: Path) -> None:
    with socket.socket(family) as server:
        try:
            server.bind((address, 0))
        except OSError:
            pytest.skip(f"this machine has no {address}")
        port = str(server.getsockname()[1])
        assert said(run(python, CONNECT, address, port, folder=tmp_path)) == (0, "no\n", "")
        server.listen()
        assert said(run(python, CONNECT, address, port, folder=tmp_path)) == (0, "yes\n", "")


@given(
    size=st.sampled_from([0, 1, 63, 2**18 - 1, 2**18, 2**18 + 1, 8388616, 8388617, 8388618, 9000000]),
    seed=st.text("ab/1"),
)
@at_most(6)
def test_both_make_the_same_noise(size: int, seed: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("noise")
    for name, python in (("perl", ""), ("python", sys.executable)):
        assert said(run(python, NOISE, "make", name, str(size), seed, folder=folder))[0] == 0
    perl, python_ = ((folder / name).read_bytes() for name in ("perl", "python"))
    assert perl == python_
    assert len(perl) == size
    assert (folder / "perl").stat().st_mode == (folder / "python").stat().st_mode


@EACH
def test_noise_replaces_and_follows_nothing(python: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "there").write_text("kept")
    os.mkfifo(tmp_path / "fifo")

    def call(mode: str, name: str) -> tuple[int, str, str]:
        return said(run(python, NOISE, mode, name, "10", "a", folder=tmp_path))

    assert call("make", "there") == (errno.EEXIST, "", "there: File exists\n")
    assert call("make", "link") == (errno.EEXIST, "", "link: File exists\n")
    assert call("check", "link") == (errno.ELOOP, "", "link: Too many levels of symbolic links\n")
    assert call("check", "missing") == (errno.ENOENT, "", "missing: No such file or directory\n")
    code, out, error = call("check", "fifo")
    assert (code != 0, out, error) == (True, "", "fifo: no file\n")
    assert (tmp_path / "there").read_text() == "kept"


# --- who runs them


def host(folder: Path, python: str) -> EmulatedHost:
    return equipped(EmulatedHost(folder, {}, ("sh", "perl", "cat")), python)


@EACH
def test_the_host_picks_and_commands_are_the_same(python: str, tmp_path: Path) -> None:
    inner = host(tmp_path, python)
    expected = f"hello from {'python' if python else 'perl'}"
    greet = command(*run_script(HELLO))
    nested = script('"$@"', *run_script(HELLO))
    function = script(shell_function("greet", HELLO) + "greet")
    quoted = script(join(["sh", "-c", join(greet.argv)]))
    (joined,) = together([command("true"), greet])
    for each in (greet, nested, function, quoted, joined):
        assert isinstance(each, Command)
        assert each.run(inner).strip() == expected, each
    assert inner.shell("sh", given="true\n" + join(greet.argv) + "\n").stdout.strip() == expected
    assert inner.shell("cat", given="a" + HELLO + "b").stdout == f"a{in_python(HELLO) if python else HELLO}b"


@pytest.mark.parametrize(
    ("commands", "found"),
    [
        ({"perl": ""}, ""),
        ({}, "{tools}/usr/bin/python3"),
        ({"xcode-select": "echo 'no developer tools' >&2; exit 2"}, ""),
        ({"xcode-select": "echo /nowhere"}, ""),
        ({"uname": "echo Linux"}, ""),
    ],
)
def test_a_mac_without_perl_has_the_python_of_the_developer_tools(
    tmp_path: Path, commands: dict[str, str], found: str
) -> None:
    """That of /usr/bin would open a window where there are none; and which they are is up to no variable."""
    tools = tmp_path / "Command Line Tools"
    (tools / "usr/bin").mkdir(parents=True)
    (tools / "usr/bin/python3").touch(mode=0o755)
    mac = {"uname": "echo Darwin", "xcode-select": f'echo "${{DEVELOPER_DIR-{tools}}}"', "python3": "exit 1"}
    inner = EmulatedHost(tmp_path, mac | commands, ("sh",))
    text = WHICH_PYTHON.replace("/usr/bin/perl", f"{inner.folder}/bin/perl")  # this machine has one
    printed = inner.shell(f"DEVELOPER_DIR=/mine; export DEVELOPER_DIR\n{text}").stdout
    assert parse_python(printed) == found.format(tools=tools)
    assert inner.calls("python3", "perl") == []


def test_a_mac_lacks_perl_only_where_no_python_stands_in(tmp_path: Path) -> None:
    inner = EmulatedHost(tmp_path, {"rsync": ""}, ("sh",))
    programs = MacOS(inner).programs
    assert programs.missing(["perl", "rsync", "iperf3"]) == ["perl", "iperf3"]
    assert programs.how_to_install("perl") == INSTALL_PYTHON
    inner.python = sys.executable
    assert programs.missing(["perl", "rsync", "iperf3"]) == ["iperf3"]


def test_a_command_that_wants_perl_says_what_to_install(tmp_path: Path) -> None:
    inner = EmulatedHost(tmp_path, {}, ("sh", "env"))
    MacOS(inner)
    for argv in (("sh", "-c", "perl -e 1"), ("env", "LC_ALL=C", "perl", "-e", "1")):
        with pytest.raises(CommandError) as caught:
            inner.run(*argv)
        assert caught.value.remedy == INSTALL_PYTHON


def test_python_runs_isolated(tmp_path: Path) -> None:
    (tmp_path / "os.py").write_text("raise SystemExit('the folder')")
    flags = Script(
        "",
        "import sys; flags = sys.flags; print(flags.isolated, flags.no_site, flags.dont_write_bytecode, sys.argv[1:])",
    )
    inner = host(tmp_path, sys.executable)
    assert inner.run(*run_script(flags, "a", "--")).stdout == "1 1 1 ['a', '--']\n"


def test_a_word_that_looks_like_the_mark_stays(tmp_path: Path) -> None:
    argv, _ = for_python("/a b/python3", run_script(HELLO, "<python3>", "perl"), "")
    assert argv == ("/a b/python3", "-IBS", "-c", "print('hello from python')", "<python3>", "perl")


@pytest.mark.parametrize(
    ("printed", "path"),
    [
        ("/Library/Developer/CommandLineTools/usr/bin/python3\n",
         "/Library/Developer/CommandLineTools/usr/bin/python3"),
        ("/Applications/Xcode 15.app/Contents/Developer/usr/bin/python3\n",
         "/Applications/Xcode 15.app/Contents/Developer/usr/bin/python3"),
        ("", ""),
        ("python3\n", ""),
        ("/a'b/python3\n", ""),
        ("/a/python3\n/b/python3\n", ""),
    ],
)  # fmt: skip
def test_only_a_plain_path_is_a_python(printed: str, path: str) -> None:
    assert parse_python(printed) == path
