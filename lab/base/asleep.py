"""How long this machine has slept: a transfer during which it slept says nothing about the link."""

import sys
import time


def asleep_s() -> float:
    """Seconds that this machine has slept since it started.

    The difference between a clock that goes on during sleep and one that stops: CLOCK_BOOTTIME and CLOCK_MONOTONIC of
    Linux (clock_gettime(2)), CLOCK_MONOTONIC and CLOCK_UPTIME_RAW of macOS (clock_gettime(3) there).
    """
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_MONOTONIC) - time.clock_gettime(time.CLOCK_UPTIME_RAW)
    return 0.0
