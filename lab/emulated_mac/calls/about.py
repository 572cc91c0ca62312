"""Which faults are switched on, and when the machine below started."""

from __future__ import annotations

import time

from ..kernel import Caller, Kernel, at_boot, call


@call
def fault(kernel: Kernel, caller: Caller, name: str) -> bool:
    """Whether this is to go wrong now; asked by commands whose fault is not in the kernel."""
    return kernel.fault(name)


@at_boot
def note_start(kernel: Kernel) -> None:
    """Fix when the machine started: worked out later, from a clock that is set meanwhile, it would be another time."""
    kernel.parts["boot_time"] = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


@call
def boot_time(kernel: Kernel, caller: Caller) -> float:
    """Seconds since 1970; starts of processes are counted from it."""
    found: float = kernel.parts["boot_time"]
    return found
