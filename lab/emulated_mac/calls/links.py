"""What interfaces have at the start, and what a driver does when the MTU changes."""

from __future__ import annotations

import threading
from pathlib import Path

from .. import interfaces
from ..kernel import Caller, Kernel, at_boot, call

FLAP_S = 3.0
LOOPBACK_MTU = 16384


@at_boot
def start(kernel: Kernel) -> None:
    """Give the loopback interface the MTU that it has on a Mac."""
    interfaces.set_mtu("lo0", LOOPBACK_MTU)


@call
def mtu_changed(kernel: Kernel, caller: Caller, name: str) -> None:
    """Take the link down for a while, where that is switched on: some drivers do so for one to five seconds."""
    caller.must_be_root()
    if not kernel.fault("link-flap"):
        return
    Path(interfaces.FLAPPING).touch()
    interfaces.set_up(name, False)
    threading.Timer(FLAP_S, _come_back, [name]).start()


def _come_back(name: str) -> None:
    interfaces.set_up(name, True)
    Path(interfaces.FLAPPING).unlink(missing_ok=True)
