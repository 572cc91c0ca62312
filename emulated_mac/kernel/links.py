"""The network interfaces: their MTU after a boot, a link that goes down when its MTU changes, and manual addresses."""

import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from .. import interfaces
from ..interfaces import Address
from ..linux_programs import environment
from .system_calls import Caller, Kernel, at_boot, system_call

FLAP_S = 3.0
LOOPBACK_MTU = 16384
ETHERNET = "en0"


@dataclass
class Manual:
    """The interfaces with a manual address, each with its former address (the local lab's, or none). The local lab's
    address stands for an address from a DHCP server.
    """

    leases: dict[str, Address | None] = field(default_factory=dict)


@at_boot
def set_loopback_mtu(kernel: Kernel) -> None:
    """Give the loopback interface the MTU that it has on a Mac."""
    interfaces.set_mtu("lo0", LOOPBACK_MTU)


@at_boot
def name_ethernet(kernel: Kernel) -> None:
    """Let Linux's programs know the data link by its name on a Mac too, for the zones of link-local addresses."""
    threading.Thread(target=_name_ethernet, daemon=True).start()


def _name_ethernet() -> None:
    """The link appears some time after the boot."""
    while ETHERNET not in interfaces.names():
        time.sleep(0.1)
    linux = interfaces.LINUX[ETHERNET]
    command = ["/linux/usr/sbin/ip", "link", "property", "add", "dev", linux, "altname", ETHERNET]
    subprocess.run(command, check=False, env=environment())  # fails after a reboot: the link kept the name


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


@system_call
def is_manual(kernel: Kernel, caller: Caller, name: str) -> bool:
    """Whether an interface has a manual address."""
    return name in kernel.part(Manual).leases


@system_call
def set_manual(kernel: Kernel, caller: Caller, name: str, ip: int, mask: int) -> None:
    """Set the address and mask of an interface, both as numbers."""
    caller.must_be_root()
    interface = interfaces.Interface(name)
    kernel.part(Manual).leases.setdefault(name, interface.address)
    interfaces.set_address(name, Address(ip, mask))


@system_call
def set_dhcp(kernel: Kernel, caller: Caller, name: str) -> None:
    """Restore the address that an interface had before its first manual one."""
    caller.must_be_root()
    lease = kernel.part(Manual).leases.pop(name, None)
    if lease:
        interfaces.set_address(name, lease)
