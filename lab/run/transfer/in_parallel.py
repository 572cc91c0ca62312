"""Several things at the same time: most of the time between two transfers is waiting."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import TypeVar

from lab.platforms.timing import Armed, Offset

LEAD_S = 0.25  # from the order to the start: for the order to arrive, and for a process to wake
COUNTING_TIMES = 3  # each client counts before it starts; allow so many times what its trial count took

T = TypeVar("T")
U = TypeVar("U")


def at_once(first: Callable[[], T], other: Callable[[], U]) -> tuple[T, U]:
    """Do two things at the same time; returns both results. Raises what either raised, once both have ended.

    The first runs in this thread, where an interruption ends it: what changes a host must not go on while it is put
    back.
    """
    with ThreadPoolExecutor(1) as threads:
        started = threads.submit(other)
        value = first()
    return value, started.result()


def start_all(commands: Sequence[AbstractContextManager[Armed]], end: Callable[[int, Armed, Offset], T]) -> list[T]:
    """Start commands on several clients at one instant, each by its own clock; returns the results of ``end``.

    ``end`` gets the number of the client, its command, and the offset of its clock before. Raises what ``end`` raises,
    and HostError if a command cannot be begun.
    """
    with ThreadPoolExecutor(len(commands)) as threads, ExitStack() as stack:  # commands end before their threads do
        armed = [stack.enter_context(command) for command in commands]
        counting_s = max(list(threads.map(Armed.await_ready, armed)))
        offsets = list(threads.map(Armed.measure_offset, armed))
        lead_s = LEAD_S + COUNTING_TIMES * counting_s + max(offset.bound_s for offset in offsets)
        at_s = time.monotonic() + lead_s
        for command, offset in zip(armed, offsets, strict=True):
            command.start_at(at_s + offset.ahead_s)
        return list(threads.map(end, range(len(armed)), armed, offsets))
