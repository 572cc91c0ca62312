"""The twin of server_watch.pl."""

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lab.platforms.answers_twin import answers
    from lab.platforms.macos.counts_twin import moved

BEGIN_S = 3
LOOK_S = 1
SHARE = 20
FLOWING = 10_000
QUIET_S = 4
ANSWER_S = 2
FAILING_S = 3


def watch(interface: str, server: str) -> int:
    """Begin to watch a server, "ADDRESS PORT"; the process that does."""
    stopwatch = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        if is_dead(interface, server, stopwatch):
            os.write(1, f"unanswered {server}\n".encode())
    finally:  # what the process above has still to do is not for this one
        sys.stderr.flush()
        os._exit(0)


def is_dead(interface: str, server: str, stopwatch: int) -> bool:
    """Whether the server answers no more, once it does not; or False, once the stopwatch is gone."""
    address, port = server.split(" ")
    time.sleep(BEGIN_S)
    before, moving, failing, failures, took = moved(interface), time.monotonic(), 0.0, 0, 0.0
    while True:
        time.sleep(max(took * SHARE, LOOK_S))
        if os.getppid() != stopwatch:
            return False
        start, now_moved = time.monotonic(), moved(interface)
        took = time.monotonic() - start
        if abs(now_moved - before) >= FLOWING:
            moving, failures = start, 0
        before = now_moved
        if start - moving < QUIET_S:
            continue
        if answers(address, port, ANSWER_S):
            moving, failures = time.monotonic(), 0
            continue
        failing = failing if failures else start
        failures += 1
        if failures > 1 and time.monotonic() - failing >= FAILING_S:
            return True
