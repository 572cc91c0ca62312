"""Waits until something is so, or until the time is over."""

import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(
    is_so: Callable[[], object],
    what: str = "it",
    seconds: float = 300,  # a busy machine may take long
    process: subprocess.Popen[str] | None = None,
) -> None:
    """Wait until ``is_so`` returns something true; fail the test after some seconds, or if a process ended before."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.02)


def last_look(look: Callable[[], T], wanted: object, seconds: float) -> T:
    """What ``look`` returns as soon as it is as wanted, or when the time is over."""
    deadline = time.monotonic() + seconds
    while (result := look()) != wanted and time.monotonic() < deadline:
        time.sleep(0.1)
    return result
