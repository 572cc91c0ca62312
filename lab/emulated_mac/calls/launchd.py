"""launchd: which file servers are enabled, which are loaded, and which run.

What is enabled is on the disk, as in /private/var/db/com.apple.xpc.launchd/disabled.plist of a Mac (10.10 and later;
overrides.plist before). A loaded job with PathState runs as long as that file is there.
"""

from __future__ import annotations

import errno
import importlib
import plistlib
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from ..daemons import Daemon
from ..kernel import Caller, Kernel, at_boot, call
from ..services import Service, of

OVERRIDES = Path("/private/var/db/com.apple.xpc.launchd/disabled.plist")
LOOK_EVERY_S = 0.2
THROTTLE_S = 10.0  # launchd.plist(5): ThrottleInterval


def disabled() -> dict[str, bool]:
    """By label, what has been switched on or off."""
    return plistlib.loads(OVERRIDES.read_bytes()) if OVERRIDES.exists() else {}


def jobs(kernel: Kernel) -> dict[str, Daemon | None]:
    """The loaded jobs; None for one that does not run."""
    found: dict[str, Daemon | None] = kernel.parts.setdefault("jobs", {})
    return found


def ended(kernel: Kernel) -> dict[str, float]:
    """When jobs last ended by themselves, in seconds of the monotonic clock."""
    found: dict[str, float] = kernel.parts.setdefault("ended", {})
    return found


def named(kernel: Kernel, label: str) -> Service:
    """Raises ESRCH, which launchctl prints as 3: No such process, for a label that this version has not."""
    for service in of(kernel.profile):
        if service.label == label:
            return service
    raise OSError(errno.ESRCH, label)


@at_boot
def boot(kernel: Kernel) -> None:
    """Load what is enabled, and look after it."""
    for service in of(kernel.profile):
        if not disabled().get(service.label, True):
            jobs(kernel)[service.label] = None
    threading.Thread(target=keep_alive, args=[kernel], daemon=True).start()


def keep_alive(kernel: Kernel) -> None:
    """Start and end jobs, for ever, as their property lists ask for."""
    while True:
        with kernel.lock:
            try:
                settle(kernel)
            except Exception:  # a defect of the emulation: seen in the host's log, and the other jobs go on
                traceback.print_exc()
        time.sleep(LOOK_EVERY_S)


def settle(kernel: Kernel) -> None:
    """Start loaded jobs that should run, end those that should not."""
    for label in list(jobs(kernel)):
        service = named(kernel, label)
        wanted = bool(service.server) and all(Path(path).exists() for path in _paths(service))
        running = jobs(kernel)[label]
        if running is not None and (not wanted or running.pid() is None):
            if wanted:
                print(f"{label} has ended by itself", flush=True)
                ended(kernel)[label] = time.monotonic()
            running.stop()
            jobs(kernel)[label] = running = None
        if wanted and running is None and time.monotonic() - ended(kernel).get(label, -THROTTLE_S) >= THROTTLE_S:
            jobs(kernel)[label] = importlib.import_module(f"..servers.{service.server}", __package__).start(kernel)


def _paths(service: Service) -> list[str]:
    return list(dict(service.keys).get("KeepAlive", {}).get("PathState", {}))


@call
def services(kernel: Kernel, caller: Caller) -> list[dict[str, Any]]:
    """All jobs of this version, and how they stand."""
    found = []
    for service in of(kernel.profile):
        daemon = jobs(kernel).get(service.label)
        found.append(
            {
                "label": service.label,
                "path": service.path,
                "program": service.program,
                "disabled": disabled().get(service.label),
                "loaded": service.label in jobs(kernel),
                "pid": daemon.pid() if daemon else None,
            }
        )
    return found


@call
def service_enable(kernel: Kernel, caller: Caller, label: str, enable: bool) -> None:
    """Switch it on or off for good; what runs goes on."""
    caller.must_be_root()
    named(kernel, label)
    OVERRIDES.parent.mkdir(parents=True, exist_ok=True)
    OVERRIDES.write_bytes(plistlib.dumps(disabled() | {label: not enable}))


@call
def service_load(kernel: Kernel, caller: Caller, label: str, force: bool = False) -> None:
    """Load it, and start it where it should run. EALREADY where it is loaded, EPERM where it is switched off."""
    caller.must_be_root()
    named(kernel, label)
    if label in jobs(kernel):
        raise OSError(errno.EALREADY, label)
    if not force and disabled().get(label, True):
        raise OSError(errno.EPERM, label)
    jobs(kernel)[label] = None
    settle(kernel)


@call
def service_unload(kernel: Kernel, caller: Caller, label: str) -> None:
    """End it. ESRCH where it is not loaded."""
    caller.must_be_root()
    if label not in jobs(kernel):
        raise OSError(errno.ESRCH, label)
    if daemon := jobs(kernel).pop(label):
        daemon.stop()


@call
def service_stop(kernel: Kernel, caller: Caller, label: str) -> None:
    """End its process; it is started again at once where it should run. ESRCH where it is not loaded."""
    caller.must_be_root()
    if label not in jobs(kernel):
        raise OSError(errno.ESRCH, label)
    if daemon := jobs(kernel)[label]:
        daemon.stop()
        jobs(kernel)[label] = None
    settle(kernel)
