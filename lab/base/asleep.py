"""How long this machine has slept: a transfer during which it slept says nothing about the link."""

import sys
import time


def asleep_s() -> float:
    """Seconds that this machine has slept: a clock that goes on in sleep less one that stops (clock_gettime)."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_MONOTONIC) - time.clock_gettime(time.CLOCK_UPTIME_RAW)
    return 0.0
