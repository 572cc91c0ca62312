"""launchd: which file servers are enabled, which are loaded, and which run.

What is enabled is on the disk, as in /private/var/db/com.apple.xpc.launchd/disabled.plist of a Mac (10.10 and later;
overrides.plist before). A loaded job with PathState runs as long as that file is there.
"""

import errno
import importlib
import plistlib
import threading
import time
import traceback
from pathlib import Path

from ..launchd_services import Service, services_of
from ..linux_programs import Daemon
from ..records import ServiceRecord
from .system_calls import Caller, Kernel, at_boot, system_call

OVERRIDES = Path("/private/var/db/com.apple.xpc.launchd/disabled.plist")
CHECK_EVERY_S = 0.2
THROTTLE_S = 10.0  # launchd.plist(5): ThrottleInterval


class Jobs(dict[str, Daemon | None]):
    """The loaded jobs by label; None for one that does not run."""


class EndTimes(dict[str, float]):
    """By label, when jobs last ended by themselves, in seconds of the monotonic clock."""


def read_overrides() -> dict[str, bool]:
    """By label, whether a job has been switched off (true) or on."""
    return plistlib.loads(OVERRIDES.read_bytes()) if OVERRIDES.exists() else {}


def jobs(kernel: Kernel) -> Jobs:
    """The loaded jobs."""
    return kernel.part(Jobs)


def find_service(kernel: Kernel, label: str) -> Service:
    """The job of this label. ESRCH, which launchctl prints as 3: No such process, where this version has none."""
    for service in services_of(kernel.profile):
        if service.label == label:
            return service
    raise OSError(errno.ESRCH, label)


@at_boot
def load_enabled(kernel: Kernel) -> None:
    """Load the jobs that are enabled, and keep them running."""
    for service in services_of(kernel.profile):
        if not read_overrides().get(service.label, True):
            jobs(kernel)[service.label] = None
    threading.Thread(target=keep_alive, args=[kernel], daemon=True).start()


def keep_alive(kernel: Kernel) -> None:
    """Start and end jobs as their property lists ask, for ever."""
    while True:
        with kernel.lock:
            try:
                settle(kernel)
            except Exception:  # a defect of the emulation: goes to the host's log, and the other jobs go on
                traceback.print_exc()
        time.sleep(CHECK_EVERY_S)


def settle(kernel: Kernel) -> None:
    """Start loaded jobs that should run, end those that should not."""
    end_times = kernel.part(EndTimes)
    for label in list(jobs(kernel)):
        service = find_service(kernel, label)
        should_run = bool(service.server) and _has_path(service)
        running = jobs(kernel)[label]
        if running is not None and (not should_run or running.pid() is None):
            if should_run:
                print(f"{label} has ended by itself", flush=True)
                end_times[label] = time.monotonic()
            running.stop()
            jobs(kernel)[label] = running = None
        throttled = time.monotonic() - end_times.get(label, -THROTTLE_S) < THROTTLE_S
        if should_run and running is None and not throttled:
            jobs(kernel)[label] = importlib.import_module(f"..servers.{service.server}", __package__).start(kernel)


def _has_path(service: Service) -> bool:
    """Whether the file that keeps the job alive is there, or it needs none."""
    return not service.keep_alive_path or Path(service.keep_alive_path).exists()


@system_call
def services(kernel: Kernel, caller: Caller) -> list[ServiceRecord]:
    """All jobs of this version, with their states."""
    overrides = read_overrides()
    records: list[ServiceRecord] = []
    for service in services_of(kernel.profile):
        daemon = jobs(kernel).get(service.label)
        records.append(
            {
                "label": service.label,
                "path": service.path,
                "program": service.program,
                "disabled": overrides.get(service.label),
                "loaded": service.label in jobs(kernel),
                "pid": daemon.pid() if daemon else None,
            }
        )
    return records


@system_call
def service_enable(kernel: Kernel, caller: Caller, label: str, enable: bool) -> None:
    """Switch a job on or off for the boots to come; one that runs goes on."""
    caller.must_be_root()
    find_service(kernel, label)
    OVERRIDES.parent.mkdir(parents=True, exist_ok=True)
    OVERRIDES.write_bytes(plistlib.dumps(read_overrides() | {label: not enable}))


@system_call
def service_load(kernel: Kernel, caller: Caller, label: str, force: bool = False) -> None:
    """Load a job, and start it where it should run. EALREADY where it is loaded, EPERM where it is switched off."""
    caller.must_be_root()
    find_service(kernel, label)
    if label in jobs(kernel):
        raise OSError(errno.EALREADY, label)
    switched_off = read_overrides().get(label, None if force else True)
    if switched_off and (not force or kernel.fault("launchd-override-wins")):
        raise OSError(errno.EPERM, label)
    jobs(kernel)[label] = None
    settle(kernel)


@system_call
def service_unload(kernel: Kernel, caller: Caller, label: str) -> None:
    """Unload a job, which ends it. ESRCH where it is not loaded."""
    caller.must_be_root()
    if label not in jobs(kernel):
        raise OSError(errno.ESRCH, label)
    if daemon := jobs(kernel).pop(label):
        daemon.stop()


@system_call
def service_stop(kernel: Kernel, caller: Caller, label: str) -> None:
    """End a job's process; where the job should run it is started again at once. ESRCH where it is not loaded."""
    caller.must_be_root()
    if label not in jobs(kernel):
        raise OSError(errno.ESRCH, label)
    if daemon := jobs(kernel)[label]:
        daemon.stop()
        jobs(kernel)[label] = None
    settle(kernel)
