"""Commands of root over SSH: the password goes to sudo, to nobody else, and only where sudo asks for it."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from support.sshd import Sshd

from lab.base.errors import CommandError, HostKeyError
from lab.hosts import CommandLog, passwords
from lab.hosts.ssh import SshHost

pytestmark = pytest.mark.usefixtures("home")
SECRET = "hunter2-do-not-show"
# Knows one password and remembers that it was given, unless -k tells it not to; needs none where there is a file
# `nobody-asks`. Where there is one `is-1.7.0`, -k stands alone.
SUDO = """#!/bin/sh
echo "$*" >> {folder}/sudo-calls
while [ $# -gt 0 ]; do case $1 in
    -n) never=1 ;; -S) read=1 ;; -k) forget=1 ;; -p) shift ;; --) shift; break ;; *) break ;;
esac; shift; done
if [ -n "$forget" ]; then
    [ $# -gt 0 ] && [ -e {folder}/is-1.7.0 ] && {{ echo "usage: sudo -h | -K | -k | -L | -V" >&2; exit 1; }}
    [ $# -gt 0 ] || {{ rm -f {folder}/remembered; exit 0; }}
fi
if [ ! -e {folder}/nobody-asks ] && {{ [ -n "$forget" ] || [ ! -e {folder}/remembered ]; }}; then
    [ -n "$never" ] && {{ echo "sudo: a password is required" >&2; exit 1; }}
    IFS= read -r given
    [ "$given" = {secret} ] || {{ echo "sudo: 1 incorrect password attempt" >&2; exit 1; }}
    [ -n "$forget" ] || touch {folder}/remembered
fi
exec "$@"
"""


@pytest.fixture
def sudoer(sshd: Sshd, tmp_path: Path) -> Iterator[Any]:
    """Makes hosts where sudo is a script."""
    program = sshd.folder / "bin" / "sudo"
    program.write_text(SUDO.format(folder=tmp_path, secret=SECRET))
    program.chmod(0o755)
    with ExitStack() as stack:

        def make(sudo: str) -> SshHost:
            config = sshd.config("sudoer", sudo=sudo, sudo_password="env:SUDO_PASSWORD")
            host = stack.enter_context(closing(SshHost("client", config)))
            host.log = CommandLog(tmp_path / "commands.log")
            return host

        yield make


@pytest.mark.parametrize("version", ["later", "1.7.0"])
def test_sudo_gets_its_password_and_the_command_the_rest(
    sudoer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("SUDO_PASSWORD", SECRET)
    (tmp_path / f"is-{version}").touch()
    host = sudoer("password")
    for _ in range(2):  # sudo 1.7.0 does not read the password a second time
        assert host.run("cat", root=True, given="for the command\n").stdout == "for the command\n"
    assert host.run("cat", given="no sudo\n").stdout == "no sudo\n"
    assert host.run("sh", "-c", 'echo "$LC_ALL"', root=True).stdout == "C\n"  # sudo forgets the environment
    assert SECRET not in (tmp_path / "commands.log").read_text() + (tmp_path / "sudo-calls").read_text()


@pytest.mark.parametrize(("mode", "version"), [("password", "later"), ("password", "1.7.0"), ("nopasswd", "later")])
def test_where_sudo_asks_for_nothing_the_password_does_not_reach_the_command(
    sudoer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, version: str
) -> None:
    monkeypatch.setenv("SUDO_PASSWORD", SECRET)
    (tmp_path / f"is-{version}").touch()
    (tmp_path / "nobody-asks").touch()
    assert sudoer(mode).run("cat", root=True, given="mine\n").stdout == "mine\n"


def test_sudo_that_wants_a_password_says_what_to_change(sudoer: Any) -> None:
    with pytest.raises(CommandError, match="give sudo = password in the hosts file") as caught:
        sudoer("nopasswd").run("true", root=True)
    assert "sudo: a password is required" in str(caught.value)


def test_a_wrong_password_is_an_error_that_does_not_show_it(sudoer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_PASSWORD", "wrong-but-secret")
    with pytest.raises(CommandError, match="incorrect password") as caught:
        sudoer("password").run("true", root=True)
    assert "wrong-but-secret" not in str(caught.value)


def test_the_password_is_asked_for_before_connecting(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong source is bad input, and nothing of the host was touched."""
    asked = []

    def resolve(source: str, what: str, key: str) -> SecretStr:
        asked.append((source, what))
        return SecretStr("x")

    monkeypatch.setattr(passwords, "resolve", resolve)
    with pytest.raises(HostKeyError):
        SshHost("client", sshd.config(sudo="password", sudo_password="keyring:lab", known_hosts="/no"))
    assert asked == [("keyring:lab", f"{sshd.user}@127.0.0.1 (sudo)")]
