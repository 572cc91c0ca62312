"""The SSH ProxyCommand to a host that has no address outside: ``python -m lab.local.proxy_command NAME HOST``.

It enters the host's network, connects to its sshd and passes the bytes on. So management never crosses the data link,
and this machine needs no address or interface of its own.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import sys
from contextlib import suppress

from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import printable
from lab.local import state, syscalls

SSH_PORT = 22
CHUNK = 1 << 16


def dial(pid: int, address: str, timeout_s: float = 10.0) -> socket.socket:
    """A connection to the sshd of the host whose PID 1 is ``pid``, at an address in its network.

    Moves the calling thread into that network.
    """
    syscalls.enter_network(pid)
    return socket.create_connection((address, SSH_PORT), timeout=timeout_s)


def watch(host: state.Process) -> int:
    """A descriptor that is readable once this very process has ended. Raises ProcessLookupError where it has already.

    A guest that was killed closes no connection, and whoever is in its network would keep that for ever.
    """
    descriptor = os.pidfd_open(host.pid)
    if not host.alive():  # looked at after it was opened: the pid may be another's by now
        os.close(descriptor)
        raise ProcessLookupError(errno.ESRCH, "the host has just ended")
    return descriptor


def relay(connection: socket.socket, host: int) -> None:
    """Pass bytes between standard input and output and the connection until either side, or the host, ends."""
    with suppress(ConnectionError):  # a host whose power was cut resets it once it is up again
        _pass_on(connection, host)


def _pass_on(connection: socket.socket, host: int) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        selector.register(connection, selectors.EVENT_READ)
        selector.register(host, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == host:
                    return
                if key.fileobj == 0:
                    data = os.read(0, CHUNK)
                    connection.sendall(data)
                else:
                    data = connection.recv(CHUNK)
                    _write_all(data)
                if not data:
                    return


def _write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def main() -> int:
    """Connect standard input and output to the host's sshd."""
    name, host = sys.argv[1:]
    try:
        lab = state.load(name)
        if lab is None or not lab.supervisor.alive():
            raise BadInput(f"the local lab {name!r} is not up", "`lab local up` brings it up")
        ended = watch(lab.hosts[host])
        connection = dial(lab.hosts[host].pid, lab.ssh_address)
    except BadInput as error:
        print(printable(str(error)), file=sys.stderr)
        return 1
    except OSError as error:
        message = f"{host} of the local lab {name!r} does not answer, or is just rebooting: {reason_of(error)}"
        print(printable(message), file=sys.stderr)
        return 1
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    relay(connection, ended)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
