"""Commands that must end by themselves, in this process."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from support.memory_host import lab_signals


@contextmanager
def must_end_within(seconds: int) -> Iterator[None]:
    """Fail the test where what runs inside takes longer; the lab's own signals are as a command sets them."""
    with lab_signals():
        old = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it does not end"))
        signal.alarm(seconds)
        try:
            yield
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, old)
