"""Commands over a real sshd: what is sent arrives unchanged, in any login shell, and nothing else reaches the host."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.sshd import PROGRAM, Sshd, make_key
from support.sshd_fixtures import write_config
from unit.hosts.test_ssh_host import *  # noqa: F403 – over SSH by the fixtures of this folder

from lab.base.errors import DeadlineExceeded
from lab.base.present import present
from lab.hosts.ssh import SshHost


def test_what_a_login_shell_says_is_not_taken_for_something_else(connect: Callable[..., SshHost]) -> None:
    result = connect("noisy").shell("echo out; echo err >&2; exit 3", check=False)
    assert (result.exit_code, result.stdout, result.stderr) == (3, "out\n", "welcome\nerr\n")


@pytest.fixture
def with_tcsh(sshd: Sshd) -> Iterator[SshHost]:
    """A host whose account has tcsh: sshd gives tcsh the whole command as one word."""
    if PROGRAM and not shutil.which("tcsh"):  # the local lab's root filesystem, which has its own sshd, also has tcsh
        pytest.skip("tcsh is not installed")
    key = sshd.folder / "tcsh"
    if not key.exists():
        public = make_key(key)
        with (sshd.folder / "authorized_keys").open("a") as file:
            file.write(f'command="exec tcsh -c \\"$SSH_ORIGINAL_COMMAND\\"" {public}\n')
    opened = SshHost("client", sshd.config("tcsh"))
    yield opened
    opened.close()


def test_words_scripts_and_standard_input_arrive_by_tcsh(with_tcsh: SshHost) -> None:
    assert with_tcsh.run("printf", "%s", "a!b\n'c' \\n $HOME").stdout == "a!b\n'c' \\n $HOME"
    script = 'read -r line\n! false && echo "$line $1"'
    assert with_tcsh.shell(script, "two\nlines", given="first\n").stdout == "first two\nlines\n"
    assert with_tcsh.run("/bin/sh", "-c", "exit 3", check=False).exit_code == 3


def test_a_command_of_tcsh_that_takes_too_long_is_ended_with_its_children(with_tcsh: SshHost) -> None:
    with pytest.raises(DeadlineExceeded):
        with_tcsh.shell("sleep 3333 &\nsleep 3333", deadline_s=1)
    assert with_tcsh.shell("! pgrep -f '^sleep 333[3]$'").exit_code == 0


@pytest.fixture
def agent(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An ssh-agent that the controller's environment leads to."""
    socket = home / "agent"
    try:
        process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.PIPE)
    except FileNotFoundError:
        pytest.skip("there is no ssh-agent")
    with process:
        present(process.stdout).readline()  # by then it listens
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        monkeypatch.setenv("DISPLAY", ":7")
        monkeypatch.setenv("SECRET_OF_A_TEST", "A" * 12)
        yield socket
        process.terminate()


def test_no_agent_display_or_environment_reaches_a_host(
    agent: Path, home: Path, connect: Callable[..., SshHost]
) -> None:
    write_config(home, "Host *\n    ForwardAgent yes\n    ForwardX11 yes\n    SendEnv SECRET_OF_A_TEST\n")
    assert agent.is_socket()
    environment = connect().run("env").stdout
    assert "PATH=" in environment
    for name in ("SSH_AUTH_SOCK", "DISPLAY", "A" * 12):
        assert name not in environment


def test_no_core_dump_of_a_command_on_a_host_holds_them(connect: Callable[..., SshHost]) -> None:
    """The hard limit counts: the soft one is zero on most systems anyway."""
    assert connect().shell("ulimit -H -c").stdout == "0\n"
