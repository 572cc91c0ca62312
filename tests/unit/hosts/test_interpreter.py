"""Who runs the lab's scripts on a host: perl, or on a Mac without it the python3 of the developer tools."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.fake_host import EmulatedHost
from support.interpreters import EACH, equipped

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
from lab.platforms.macos.platform import MacOS

HELLO = Script("print 'hello from ', 'perl'", "print('hello from python')")


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
    for step in (greet, nested, function, quoted, joined):
        assert isinstance(step, Command)
        assert step.run(inner).strip() == expected, step
    assert inner.shell("sh", given="true\n" + join(greet.argv) + "\n").stdout.strip() == expected
    assert inner.shell("cat", given="a" + HELLO + "b").stdout == f"a{in_python(HELLO) if python else HELLO}b"


@pytest.mark.parametrize(
    ("commands", "path"),
    [
        ({"perl": ""}, ""),
        ({}, "{tools}/usr/bin/python3"),
        ({"xcode-select": "echo 'no developer tools' >&2; exit 2"}, ""),
        ({"xcode-select": "echo /nowhere"}, ""),
        ({"uname": "echo Linux"}, ""),
    ],
)
def test_a_mac_without_perl_has_the_python_of_the_developer_tools(
    tmp_path: Path, commands: dict[str, str], path: str
) -> None:
    """That of /usr/bin would open a window where there are none; and which they are is up to no variable."""
    tools = tmp_path / "Command Line Tools"
    (tools / "usr/bin").mkdir(parents=True)
    (tools / "usr/bin/python3").touch(mode=0o755)
    mac = {"uname": "echo Darwin", "xcode-select": f'echo "${{DEVELOPER_DIR-{tools}}}"', "python3": "exit 1"}
    inner = EmulatedHost(tmp_path, mac | commands, ("sh",))
    text = WHICH_PYTHON.replace("/usr/bin/perl", f"{inner.folder}/bin/perl")  # this machine has one
    printed = inner.shell(f"DEVELOPER_DIR=/mine; export DEVELOPER_DIR\n{text}").stdout
    assert parse_python(printed) == path.format(tools=tools)
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
