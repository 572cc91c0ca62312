"""Whatever a file holds, reading it ends soon, and takes no more memory than a reader of files of that size may."""

import functools
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

CPU_S = 10.0  # of this process alone: a machine that is busy with something else makes no test fail
MEMORY_BYTES = 1 << 30


class Unbounded(BaseException):
    """It took more than it may; nothing that catches errors takes this for one of its own."""


@functools.cache
def _reserve_arena() -> None:
    """Have pandas make a text: the allocator below it takes a gigabyte of addresses when it is first asked."""
    import pandas as pd

    pd.Series(["text"], dtype="str")


@contextmanager
def bounded(cpu_s: float = CPU_S, memory_bytes: int = MEMORY_BYTES) -> Iterator[None]:
    """Raise Unbounded where the block takes more CPU time, MemoryError where it takes more memory."""

    def stop(_: int, __: FrameType | None) -> None:
        raise Unbounded(f"took more than {cpu_s:g} s of CPU time")

    _reserve_arena()
    before = signal.signal(signal.SIGPROF, stop)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):  # no /proc on a Mac, which bounds no address space either
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory_bytes, hard))
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGPROF, before)
