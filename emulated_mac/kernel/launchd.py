"""launchd: which file servers are enabled, loaded and running. What is enabled is kept on disk, as a Mac does in
/private/var/db/com.apple.xpc.launchd/disabled.plist (overrides.plist before 10.10). A loaded job with PathState runs as
long as its file exists.
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
    """The loaded jobs by label; None if a job does not run."""


class EndTimes(dict[str, float]):
    """When each job last ended by itself, by label, in seconds of the monotonic clock."""


def read_overrides() -> dict[str, bool]:
    """Whether each job was switched off (true) or on, by label."""
    return plistlib.loads(OVERRIDES.read_bytes()) if OVERRIDES.exists() else {}


def jobs(kernel: Kernel) -> Jobs:
    """The loaded jobs."""
    return kernel.part(Jobs)


def find_service(kernel: Kernel, label: str) -> Service:
    """The job with this label. ESRCH (launchctl prints "3: No such process") if this version lacks it."""
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
    """Start loaded jobs that should run, and end the others."""
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
    """Whether the file that keeps the job alive exists, or the job needs no such file."""
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
    """Switch a job on or off from the next boot on; a running job continues."""
    caller.must_be_root()
    find_service(kernel, label)
    OVERRIDES.parent.mkdir(parents=True, exist_ok=True)
    OVERRIDES.write_bytes(plistlib.dumps(read_overrides() | {label: not enable}))


@system_call
def service_load(kernel: Kernel, caller: Caller, label: str, force: bool = False) -> None:
    """Load a job, and start it if it should run. EALREADY if it is loaded, EPERM if it is switched off."""
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
    """Unload a job and end its process. ESRCH if it is not loaded."""
    caller.must_be_root()
    if label not in jobs(kernel):
        raise OSError(errno.ESRCH, label)
    if daemon := jobs(kernel).pop(label):
        daemon.stop()


@system_call
def service_stop(kernel: Kernel, caller: Caller, label: str) -> None:
    """End a job's process; if the job should run, it is started again at once. ESRCH if it is not loaded."""
    caller.must_be_root()
    if label not in jobs(kernel):
        raise OSError(errno.ESRCH, label)
    if daemon := jobs(kernel)[label]:
        daemon.stop()
        jobs(kernel)[label] = None
    settle(kernel)
