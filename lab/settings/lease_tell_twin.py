"""The twin of lease_tell.pl."""

import signal
import socket
import sys


def too_late(*_: object) -> None:
    """End this."""
    sys.exit("the guard of the lease does not answer")


def tell_guard(message: bytes) -> str:
    """Tell the guard what it has to know; ``kept``, or ``gone`` where there is none that listens."""
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(20)
    with socket.socket(socket.AF_UNIX) as guard:
        try:
            guard.connect("lease.socket")
            guard.sendall(message + b".")
            guard.shutdown(socket.SHUT_WR)
            answer = guard.makefile("rb").readline()
        except OSError:
            answer = b""
    signal.alarm(0)
    return answer.decode() or "gone\n"
