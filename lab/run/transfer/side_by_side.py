"""Two things at the same time: most of the time between two transfers is waiting."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def at_once(first: Callable[[], T], other: Callable[[], U]) -> tuple[T, U]:
    """What two things give that are done at the same time. Raises what either raised, once both have ended.

    The first is done in this thread, where an interruption ends it: what changes a host must not go on while it is put
    back.
    """
    with ThreadPoolExecutor(1) as threads:
        started = threads.submit(other)
        value = first()
    return value, started.result()
