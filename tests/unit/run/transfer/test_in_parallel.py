"""Commands that start at one instant: each host starts by its own clock, once all are ready."""

import time
from contextlib import nullcontext
from typing import Any

import pytest

from lab.platforms.timing import Armed, Offset
from lab.run.transfer.in_parallel import COUNTING_TIMES, LEAD_S, start_all


class Stopwatch:
    """The stopwatch of a host whose clock is ahead by so many seconds; it notes its start."""

    name = "host"

    def __init__(self, ahead_s: float, counting_s: float = 0.0):
        self.ahead_s, self.start_s = ahead_s, float("nan")
        self._line = f"ready {counting_s:.6f}\n"

    def ask(self, question: str) -> None:
        if question == "now?":
            self._line = f"now {time.monotonic() + self.ahead_s:.6f}\n"
        else:
            self.start_s = float(question.removeprefix("start "))

    def next_line(self) -> str:
        return self._line


def started(*stopwatches: Any) -> list[tuple[int, Offset]]:
    """What is measured of each clock, by its number."""
    commands = [nullcontext(Armed(stopwatch, "", lambda _: pytest.fail("nothing ends"))) for stopwatch in stopwatches]
    return start_all(commands, lambda number, _, offset: (number, offset))


def test_each_starts_at_one_instant_by_its_own_clock() -> None:
    stopwatches = [Stopwatch(0.0), Stopwatch(500_000.25), Stopwatch(-70.5)]
    before = time.monotonic()
    measured = started(*stopwatches)
    assert [number for number, _ in measured] == [0, 1, 2]
    for stopwatch, (_, offset) in zip(stopwatches, measured, strict=True):
        assert offset.ahead_s == pytest.approx(stopwatch.ahead_s, abs=offset.bound_s + 1e-5)
        first_s = stopwatches[0].start_s - measured[0][1].ahead_s
        assert stopwatch.start_s - offset.ahead_s == pytest.approx(first_s, abs=1e-5)
        assert stopwatch.start_s - stopwatch.ahead_s > before


def test_the_order_waits_for_the_host_that_counts_longest() -> None:
    stopwatches = [Stopwatch(0.0, counting_s=2.0), Stopwatch(0.0)]
    before = time.monotonic()
    started(*stopwatches)
    assert stopwatches[1].start_s >= before + LEAD_S + COUNTING_TIMES * 2.0
