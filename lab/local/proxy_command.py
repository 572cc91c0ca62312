"""The SSH ProxyCommand to a host that has no address outside: ``python -m lab.local.proxy_command NAME HOST``.

It enters the host's network, connects to its sshd and passes the bytes on. So management never uses the data link, and
this machine needs no interface there.
"""

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
    """Connect to sshd at an address in the network of process ``pid``. Moves the calling thread into that network."""
    syscalls.enter_network(pid)
    return socket.create_connection((address, SSH_PORT), timeout=timeout_s)


def watch(host: state.Process) -> int:
    """A descriptor that is readable once the process ends: a killed guest closes no connection. Raises OSError."""
    descriptor = os.pidfd_open(host.pid)
    if not host.alive():  # checked after opening, because the pid may belong to another process by now
        os.close(descriptor)
        raise ProcessLookupError(errno.ESRCH, "the host has just ended")
    return descriptor


def relay(connection: socket.socket, host: int) -> None:
    """Pass bytes between standard input and output and the connection until either side, or the host, ends."""
    # a host whose power was cut resets the connection once it is up again
    with suppress(ConnectionError), selectors.DefaultSelector() as selector:
        for source in (0, connection, host):
            selector.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == host:
                    return
                if key.fileobj == 0:
                    data = os.read(0, CHUNK)
                    connection.sendall(data)
                else:
                    data = rest = connection.recv(CHUNK)
                    while rest:
                        rest = rest[os.write(1, rest) :]
                if not data:
                    return


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
