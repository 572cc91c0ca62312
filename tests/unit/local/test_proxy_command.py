"""The way into a host of a local lab: it ends with the host, and with nothing else."""

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest
from support.paths import ROOT

from lab.base.present import present
from lab.local import proxy_command
from lab.local.state import Process

PIPE = subprocess.PIPE
RELAY = """
import socket, sys
from lab.local import proxy_command
from lab.local.state import Process
connection = socket.socket(fileno=int(sys.argv[1]))
proxy_command.relay(connection, proxy_command.watch(Process(int(sys.argv[2]), int(sys.argv[3]))))
"""


@pytest.fixture
def host() -> Iterator[subprocess.Popen[bytes]]:
    """A process in place of a host's first one, whose end closes no connection, like a guest's kernel."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def relayed(host: subprocess.Popen[bytes], far: socket.socket) -> subprocess.Popen[bytes]:
    """A process that relays a connection until the host ends."""
    words = [str(far.fileno()), str(host.pid), str(Process.of(host.pid).started)]
    command = [sys.executable, "-c", RELAY, *words]
    return subprocess.Popen(command, cwd=ROOT, pass_fds=[far.fileno()], stdin=PIPE, stdout=PIPE, stderr=PIPE)


def test_a_way_in_ends_with_the_host_though_no_connection_was_closed(host: subprocess.Popen[bytes]) -> None:
    near, far = socket.socketpair()
    with near, far, relayed(host, far) as way:
        stdin = present(way.stdin)
        stdin.write(b"in")
        stdin.flush()
        assert near.recv(2) == b"in"
        near.sendall(b"out")
        assert present(way.stdout).read(3) == b"out"
        with pytest.raises(subprocess.TimeoutExpired):
            way.wait(0.2)  # as long as the host is there
        host.kill()
        assert way.wait(60) == 0


def test_a_connection_that_is_reset_is_an_end_and_no_traceback(host: subprocess.Popen[bytes]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as far:
        near, _ = server.accept()
        with relayed(host, far) as way:
            near.sendall(b"out")
            assert present(way.stdout).read(3) == b"out"
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            near.close()
            assert (way.wait(60), way.stderr and way.stderr.read()) == (0, b"")


def test_another_process_with_the_pid_of_a_host_that_ended_is_not_taken_for_it() -> None:
    itself = Process.of(os.getpid())
    os.close(proxy_command.watch(itself))
    with pytest.raises(ProcessLookupError):
        proxy_command.watch(Process(itself.pid, itself.started + 1))
