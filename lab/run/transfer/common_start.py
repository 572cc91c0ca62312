"""Commands on several clients that start at one instant: all armed first, then told when, each by its own clock."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import TypeVar

from lab.platforms.armed import Armed, Offset

LEAD_S = 0.25  # from the order to the instant: for the order to arrive, and a process to be woken
COUNTING_TIMES = 3  # as long as counting took when it was tried, which each client does before it starts

T = TypeVar("T")
U = TypeVar("U")


def start_all(commands: Sequence[AbstractContextManager[Armed]], end: Callable[[int, Armed, Offset], T]) -> list[T]:
    """Start all of them at one instant; what ``end`` makes of each, with its number and its clock's offset before.

    Raises what ``end`` raises, and HostError where one cannot be begun.
    """
    with ThreadPoolExecutor(len(commands)) as threads, ExitStack() as stack:  # commands end before their threads do
        armed = [stack.enter_context(command) for command in commands]

        def of_all(act: Callable[[Armed], U]) -> list[U]:
            return list(threads.map(act, armed))

        counting_s = max(of_all(Armed.await_ready))
        offsets = of_all(Armed.measure_offset)
        lead_s = LEAD_S + COUNTING_TIMES * counting_s + max(offset.bound_s for offset in offsets)
        at_s = time.monotonic() + lead_s
        for one, offset in zip(armed, offsets, strict=True):
            one.start_at(at_s + offset.ahead_s)
        return list(threads.map(end, range(len(armed)), armed, offsets))
