"""The machine below: when it started, and which faults are switched on."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from .system_calls import Caller, Kernel, at_boot, system_call


@dataclass
class BootTime:
    """When the machine started, in seconds since 1970; fixed once, so that setting the clock does not change it."""

    seconds: float = field(default_factory=lambda: time.time() - time.clock_gettime(time.CLOCK_BOOTTIME))


@at_boot
def fix_boot_time(kernel: Kernel) -> None:
    """Read the clock before anybody can set it."""
    kernel.part(BootTime)


@system_call
def boot_time(kernel: Kernel, caller: Caller) -> float:
    """When the machine started, in seconds since 1970; starts of processes are counted from it."""
    return kernel.part(BootTime).seconds


@system_call
def fault(kernel: Kernel, caller: Caller, name: str) -> bool:
    """Whether a fault happens now; for programs whose fault is not in the kernel."""
    return kernel.fault(name)
