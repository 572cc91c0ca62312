"""Examples that hypothesis generates: JSON, files with changed bytes, how many, and bounds of time and memory."""

import functools
import re
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
"""What a program may print as JSON, NaN and infinity included."""


def in_one_folder(part: int = 1) -> settings:
    """The usual number of examples, or a part of them, with one folder for all examples of a test."""
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(suppress_health_check=checks, max_examples=max(5, settings().max_examples // part))


def at_most(count: int, **more: Any) -> settings:
    """At most ``count`` examples, or fewer if the profile says so."""
    return settings(max_examples=min(count, settings().max_examples), **more)


CPU_S = 10.0  # CPU time of this process, so that a busy machine fails no test
MEMORY_BYTES = 1 << 30


class Unbounded(BaseException):
    """A block took more time than it may. No handler of errors catches this."""


@functools.cache
def _reserve_arena() -> None:
    """Let pandas make a text: its allocator reserves a gigabyte of addresses at first use."""
    import pandas as pd

    pd.Series(["text"], dtype="str")


@contextmanager
def bounded(cpu_s: float = CPU_S, memory_bytes: int = MEMORY_BYTES) -> Iterator[None]:
    """Raise Unbounded if the block takes more CPU time, MemoryError if it takes more memory."""

    def stop(_: int, __: FrameType | None) -> None:
        raise Unbounded(f"took more than {cpu_s:g} s of CPU time")

    _reserve_arena()
    before = signal.signal(signal.SIGPROF, stop)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):  # a Mac has no /proc and no such limit
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory_bytes, hard))
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGPROF, before)


# replacements of numbers and words, and insertions
NUMBERS = [
    b"-1", b"0", b"nan", b"inf", b"1e308", b"1e999", b"9" * 19, b"9" * 5000, b"0x10", "٣".encode(), b"1_0", b"1.2.3",
]  # fmt: skip
WORDS = [
    b"", b"null", b"true", b"{}", b"[]", b'""', b'"', b"\\", b"'", b"\0", b"\n", b"\r\n", b"\t", b" ", b"=", b":", b",",
    b"%", b"${x}", b"%(x)s", b"../..", b"/", b"-", b"-oProxyCommand=id", b"$(id)", b"x" * 10_000, b"a." * 500, b"\xff",
    "\ud800".encode(errors="surrogatepass"), b'"\\ud800"', "\u202e\x1b[2J".encode(), b"\x85", "\u2028".encode(),
    b"[" * 3000, b'{"a":' * 3000, b"]" * 50,
]  # fmt: skip
NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]+)?")
WORD = re.compile(rb"[^\s\"{}:,=()]+")


@st.composite
def mutated(draw: st.DrawFn, originals: list[bytes], most: int = 5) -> bytes:
    """One of the originals, changed up to ``most`` times."""
    content = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(1, most))):
        content = _change(draw, content)
    return content


def _change(draw: st.DrawFn, content: bytes) -> bytes:
    kind = draw(st.sampled_from(["number", "word", "cut", "insert", "lines", "byte", "end"]))
    if kind in ("number", "word"):
        places = list((NUMBER if kind == "number" else WORD).finditer(content))
        by = draw(st.sampled_from(NUMBERS + WORDS))
        if not places:
            return content + by
        place = places[draw(st.integers(0, len(places) - 1))]
        return content[: place.start()] + by + content[place.end() :]
    if kind == "lines":
        lines = content.splitlines(keepends=True) or [b""]
        source, target = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        return b"".join(
            [*lines[:target], lines[source] * draw(st.integers(1, 3)), *lines[target + draw(st.integers(0, 1)) :]]
        )
    at = draw(st.integers(0, len(content)))
    if kind == "end":
        return content[:at]
    if kind == "cut":
        return content[:at] + content[at + draw(st.integers(1, 40)) :]
    if kind == "byte":
        return content[:at] + draw(st.binary(min_size=1, max_size=1)) + content[at + 1 :]
    return content[:at] + draw(st.sampled_from(WORDS + NUMBERS)) + content[at:]
