"""The network interfaces: their MTU after a boot, and a link that goes down when its MTU changes."""

from __future__ import annotations

import threading
from pathlib import Path

from .. import interfaces
from .system_calls import Caller, Kernel, at_boot, system_call

FLAP_S = 3.0
LOOPBACK_MTU = 16384


@at_boot
def set_loopback_mtu(kernel: Kernel) -> None:
    """Give the loopback interface the MTU that it has on a Mac."""
    interfaces.set_mtu("lo0", LOOPBACK_MTU)


@system_call
def mtu_changed(kernel: Kernel, caller: Caller, name: str) -> None:
    """With the fault ``link-flap``, take the link down for a while, as some drivers do for one to five seconds."""
    caller.must_be_root()
    if not kernel.fault("link-flap"):
        return
    Path(interfaces.FLAPPING).touch()
    interfaces.set_up(name, False)
    threading.Timer(FLAP_S, _bring_up, [name]).start()


def _bring_up(name: str) -> None:
    interfaces.set_up(name, True)
    Path(interfaces.FLAPPING).unlink(missing_ok=True)
