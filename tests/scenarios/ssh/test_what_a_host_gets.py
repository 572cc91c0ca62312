"""What a host gets by being logged in to: neither the person's agent nor a display, whatever ~/.ssh/config says."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.ssh_config import write_config

from lab.hosts.ssh import SshHost

FORWARD = "Host *\n    ForwardAgent yes\n    ForwardX11 yes\n    SendEnv SECRET_OF_A_TEST\n"
CONTROL = "A" * 12


@pytest.fixture
def agent(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An ssh-agent that the controller's environment leads to."""
    socket = home / "agent"
    try:
        process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.PIPE)
    except FileNotFoundError:
        pytest.skip("there is no ssh-agent")
    with process:
        assert process.stdout is not None
        process.stdout.readline()  # by then it listens
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        monkeypatch.setenv("DISPLAY", ":7")
        monkeypatch.setenv("SECRET_OF_A_TEST", CONTROL)
        yield socket
        process.terminate()


def test_no_agent_no_display_and_no_environment_reach_a_host(
    agent: Path, home: Path, connect: Callable[..., SshHost]
) -> None:
    write_config(home, FORWARD)
    assert agent.is_socket()
    environment = connect().run("env").stdout
    assert "PATH=" in environment
    for name in ("SSH_AUTH_SOCK", "DISPLAY", CONTROL):
        assert name not in environment


def test_no_core_dump_of_a_command_on_a_host_holds_them(connect: Callable[..., SshHost]) -> None:
    # the hard limit: the soft one is zero on most systems anyway
    assert connect().shell("ulimit -H -c").stdout == "0\n"
