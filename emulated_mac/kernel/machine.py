"""The machine: its boot time, its faults, and the developer tools that are installed."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from .. import developer_tools
from .system_calls import Caller, Kernel, at_boot, system_call


@dataclass
class BootTime:
    """When the machine started, in seconds since 1970. It is read once, so that a change of the clock has no effect."""

    seconds: float = field(default_factory=lambda: time.time() - time.clock_gettime(time.CLOCK_BOOTTIME))


@at_boot
def fix_boot_time(kernel: Kernel) -> None:
    """Read the clock before anybody can change it."""
    kernel.part(BootTime)


@system_call
def boot_time(kernel: Kernel, caller: Caller) -> float:
    """When the machine started, in seconds since 1970; the starts of processes count from it."""
    return kernel.part(BootTime).seconds


@system_call
def fault(kernel: Kernel, caller: Caller, name: str) -> bool:
    """Whether a fault happens now, for programs with a fault outside the kernel."""
    return kernel.fault(name)


@system_call
def install_developer_tools(kernel: Kernel, caller: Caller) -> None:
    """Install the developer tools, as the system does after somebody agreed in its window."""
    developer_tools.install(kernel.profile)


@system_call
def note_window(kernel: Kernel, caller: Caller) -> None:
    """Note that a window asked for the developer tools; nobody sees it over SSH."""
    with Path(developer_tools.WINDOWS).open("a", encoding="ascii") as file:
        file.write("python3\n")
