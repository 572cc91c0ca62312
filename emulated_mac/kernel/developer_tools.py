"""What needs root where somebody asks for the developer tools."""

from __future__ import annotations

from pathlib import Path

from .. import developer_tools
from .system_calls import Caller, Kernel, system_call


@system_call
def install_developer_tools(kernel: Kernel, caller: Caller) -> None:
    """Install them, as the system does once somebody has said yes in its window."""
    developer_tools.install(kernel.profile)


@system_call
def note_window(kernel: Kernel, caller: Caller) -> None:
    """Note that a window asked for them, which nobody sees over SSH."""
    with Path(developer_tools.WINDOWS).open("a", encoding="ascii") as file:
        file.write("python3\n")
