"""Passwords: found where the hosts file says, never shown, and every failure explained without them."""

import getpass
import io
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import keyring
import keyring.backend
import keyring.errors
import pytest

from lab.hosts.passwords import NoPassword, resolve

SECRET = "hunter2-do-not-show"
KEY = "hosts.ini: [share] password"


class Ring(keyring.backend.KeyringBackend):
    """A keyring in memory; ``locked`` refuses."""

    priority = 1

    def __init__(self, held: dict[tuple[str, str], str], locked: bool = False):
        super().__init__()  # type: ignore[no-untyped-call]
        self.held, self.locked = held, locked

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise keyring.errors.KeyringLocked("the keyring is locked")
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        raise AssertionError("the lab only reads")


def refused(source: str) -> str:
    with pytest.raises(NoPassword) as caught:
        resolve(source, "nas account", KEY)
    assert SECRET not in str(caught.value)
    assert str(caught.value) == f"{KEY} = {source}: no password of nas account: {caught.value.why}"
    return str(caught.value)


def test_from_the_home_or_the_environment_and_never_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAB_TEST_PASSWORD", SECRET)
    password = resolve("env:LAB_TEST_PASSWORD", "nas account", KEY)
    assert password.get_secret_value() == SECRET
    assert SECRET not in f"{password} {password!r} {[password]} {password!s:>40}"
    monkeypatch.delenv("LAB_TEST_NO_PASSWORD", raising=False)
    assert "environment variable LAB_TEST_NO_PASSWORD is not set" in refused("env:LAB_TEST_NO_PASSWORD")
    monkeypatch.setenv("HOME", str(tmp_path))
    password_file(tmp_path)
    assert resolve("file:~/password", "nas account", KEY).get_secret_value() == SECRET


@pytest.mark.parametrize(
    ("value", "message"), [("", "it is empty: a share for guests"), (f"{SECRET}\nmore", "has more than one line")]
)
def test_empty_and_many_lines_are_refused(monkeypatch: pytest.MonkeyPatch, value: str, message: str) -> None:
    # either would be sent on a line of standard input, where a line end is the end of the password
    monkeypatch.setenv("LAB_TEST_PASSWORD", value)
    assert message in refused("env:LAB_TEST_PASSWORD")


def password_file(folder: Path, content: bytes = SECRET.encode(), mode: int = 0o600) -> Path:
    file = folder / "password"
    file.touch(0o600)
    file.write_bytes(content)
    file.chmod(mode)
    return file


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
@pytest.mark.parametrize("content", [SECRET, f"{SECRET}\n", f"{SECRET}\r\n", " pässwörd \n"])
def test_from_a_file_of_its_owner_alone_less_its_line_end(tmp_path: Path, content: str, mode: int) -> None:
    file = password_file(tmp_path, content.encode(), mode)
    assert resolve(f"file:{file}", "nas account", KEY).get_secret_value() == content.rstrip("\r\n")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o777])
def test_a_file_that_others_can_use_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    file = password_file(tmp_path, mode=mode)
    assert f"`chmod 600 {file}`" in refused(f"file:{file}")


@pytest.mark.parametrize("where", ["nothing-here", "~no-such-user-here/password", "with\0nul"])
def test_a_file_that_cannot_be_found_is_named(tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert where.split("/")[0] in refused(f"file:{where}")


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_folder_is_no_password_and_gets_no_other_mode(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode)
    for path in (folder, Path("/dev/null")):
        assert refused(f"file:{path}").endswith(f"{path} cannot be read: it is not an ordinary file")
    file = password_file(tmp_path, b"\xff\xfe" + SECRET.encode())  # no text
    assert "cannot be read" in refused(f"file:{file}")


def test_from_the_keyring_if_it_is_there_and_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def use_ring(ring: Ring) -> None:  # keyring.set_keyring would stay in force after the test
        monkeypatch.setattr("keyring.core._keyring_backend", ring)

    use_ring(Ring({("lab", "nas account"): SECRET}))
    password = resolve("keyring:lab", "nas account", KEY)
    assert password.get_secret_value() == SECRET
    assert SECRET not in repr(password)
    use_ring(Ring({("lab", "somebody else"): SECRET}))
    assert "`keyring set lab 'nas account'` puts it there" in refused("keyring:lab")
    use_ring(Ring({("lab", "nas account"): SECRET}, locked=True))
    assert "the keyring is locked" in refused("keyring:lab")


@pytest.mark.parametrize("stdin", [io.StringIO(SECRET), None])
def test_without_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch, stdin: io.StringIO | None) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(getpass, "getpass", lambda _: pytest.fail("it asked"))
    assert "there is no terminal to ask at: use env:, file: or keyring:" in refused("prompt")


def test_a_terminal_is_told_the_account_and_the_end_of_input_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Mock(isatty=lambda: True))
    monkeypatch.setattr(getpass, "getpass", {"Password of nas account: ": SECRET}.__getitem__)
    assert resolve("prompt", "nas account", KEY).get_secret_value() == SECRET
    monkeypatch.setattr(getpass, "getpass", Mock(side_effect=EOFError))
    refused("prompt")


NO_CORE = """
import resource, sys
from lab.cli import main as cli
cli.main(["plan", "nothing-here.toml"])
print(resource.getrlimit(resource.RLIMIT_CORE))
"""


def test_no_core_dump_of_the_controller_holds_them() -> None:
    argv = [sys.executable, "-c", NO_CORE]
    assert subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout == "(0, 0)\n"
