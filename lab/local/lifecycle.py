"""Bring a local lab up, take it down, reboot a host, and run a command inside."""

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lab.base import durable
from lab.base.errors import BadInput, LabFailure
from lab.base.own_python import PYTHON
from lab.base.present import present
from lab.local import backends, cleanup, network, platforms, root_image, state, syscalls
from lab.local.names import MOST_CLIENTS, hosts_of
from lab.local.state import Lab, Request

STOP_DEADLINE_S, REBOOT_DEADLINE_S = 20.0, 300.0
# PATH and HOME of root: on Linux, and on emulated Macs
LINUX_LOGIN = ("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "/root")
MAC_LOGIN = ("/usr/bin:/bin:/usr/sbin:/sbin", "/private/var/root")


def up(
    name: str,
    rate: Sequence[str],
    delay: str,
    directory: Path,
    platform: Sequence[str] = (),
    own_kernel: bool = False,
    backend: str = "",
    zfs: bool = False,
    clients: int = 1,
) -> Lab:
    """Bring up the lab ``name`` with its hosts file in ``directory``; returns once all hosts answer.

    The words of ``rate`` and ``platform`` are for all hosts, such as ``1gbit`` and ``macos@15.5``, or for one, such as
    ``server=10gbit``. With ``own_kernel`` each host is a guest of ``backend``, or of the best that works here; with
    ``zfs`` the guests have ZFS. Raises BadInput for a wrong argument or if the lab is up, LabFailure if the lab does
    not start.
    """
    state.need_root()
    state.check_name(name)
    if not 1 <= clients <= MOST_CLIENTS:
        raise BadInput(f"--clients {clients}: a local lab has 1 to {MOST_CLIENTS}")
    rates = network.parse_rates(rate, hosts_of(clients), network.DEFAULT_RATE)
    network.delay_seconds(delay)
    host_platforms = platforms.parse(platform, hosts_of(clients))
    chosen, why = backends.choose(own_kernel, backend, host_platforms.values(), zfs)
    hosts_file = directory.resolve() / state.hosts_file_name(name)
    with _locked():
        if (lab := state.load(name)) is not None:
            if lab.supervisor.alive():
                problem = f"the local lab {name!r} is up already ({lab.hosts_file})"
                raise BadInput(problem, f"`lab local down --name {name}` takes it down")
            _wait_for_end(lab)  # a cleaner that still runs would remove the new lab's files
        cleanup.remove(name, hosts_file)
        return _start_supervisor(name, Request(rates, delay, str(hosts_file), host_platforms, chosen.name, why))


def _start_supervisor(name: str, request: Request) -> Lab:
    """Start the process that brings the lab up and keeps it up; returns once it is up. Raises LabFailure."""
    command = [*PYTHON, "-m", "lab.local.supervisor", name, request.to_json()]
    supervisor = subprocess.Popen(  # noqa: S603 – this Python, with a name that was checked and options that were parsed
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
    )
    answer = present(supervisor.stdout).read().decode()
    lab = state.load(name)
    if answer != "ready\n" or lab is None:
        supervisor.wait()
        raise LabFailure(answer.strip() or "local lab: its supervisor ended without a message")
    return lab


def down(name: str) -> bool:
    """Take a lab down and wait until nothing of it is left; False if it was not up."""
    state.need_root()
    state.check_name(name)
    with _locked():
        lab = state.load(name)
        if lab is None:
            return False
        if lab.supervisor.alive():
            lab.supervisor.signal(signal.SIGTERM)
        try:
            _wait_for_end(lab)
        finally:
            cleanup.remove(name, Path(lab.hosts_file))
    return True


def reboot(name: str, host: str) -> None:
    """Cut the power of one host and start it again; returns once it answers.

    The disk of the host stays; processes, memory file systems, mounts and settings go. Raises BadInput if the lab is
    not up, LabFailure if the host does not come up again; then the lab goes down.
    """
    lab = _load_running(name, host)
    lab.supervisor.signal(state.REBOOT_SIGNALS[host])
    deadline = time.monotonic() + REBOOT_DEADLINE_S
    while lab.supervisor.alive() and time.monotonic() < deadline:
        current = state.load(name)
        if current is not None and current.hosts[host] != lab.hosts[host]:
            return
        time.sleep(0.005)
    problem = f"local lab {name!r}: {host} did not come up again"
    raise LabFailure(problem, f"start afresh: `lab local down --name {name}`, then `lab local up --name {name}`")


def fault(name: str, host: str, fault: str, times: int) -> None:
    """Let a fault of an emulated Mac happen a number of times. Raises BadInput for another host."""
    lab = _load_running(name, host)
    if not platforms.mac_version(lab.platforms[host]):
        raise BadInput(f"{host} of the local lab {name!r} is no emulated Mac, and has no such faults")
    path = Path(f"/proc/{lab.hosts[host].pid}/root{platforms.faults_file()}")
    remaining: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(remaining | {fault: times}))


def describe(lab: Lab) -> str:
    """The backend and platforms of a lab, and the reason for the backend."""
    backend = backends.find(lab.backend)
    why = f" ({lab.why})" if lab.why else ""
    return f"{backend.title}{why}{platforms.title(lab.platforms)}"


def run_inside(name: str, host: str, command: list[str]) -> int:
    """Run a command inside a host at this terminal; its exit code. Raises BadInput if the lab is not up."""
    argv = inside_command(name, host, command)
    # the command that root gives to `lab local exec`
    return subprocess.run(argv, check=False, preexec_fn=syscalls.allow_many_files).returncode  # noqa: S603


def inside_command(name: str, host: str, command: Sequence[str]) -> list[str]:
    """The command that runs another one inside a host as root. Raises BadInput if the lab is not up."""
    lab = _load_running(name, host)
    path, home = MAC_LOGIN if platforms.mac_version(lab.platforms[host]) else LINUX_LOGIN
    term = os.environ.get("TERM", "dumb")
    environment = ["env", "-i", f"PATH={path}", f"HOME={home}", f"TERM={term}", "LANG=C.UTF-8"]
    return backends.find(lab.backend).inside_command(lab, host, [*environment, *command])


def _wait_for_end(lab: Lab) -> None:
    """Wait until a lab's supervisor and cleaner have ended. Raises LabFailure if one does not end."""
    deadline = time.monotonic() + STOP_DEADLINE_S
    for process in (lab.supervisor, lab.cleaner):
        while process.alive():
            if time.monotonic() >= deadline:
                problem = f"local lab {lab.name!r}: process {process.pid} does not end"
                raise LabFailure(problem, f"`kill -9 {process.pid}` ends it")
            time.sleep(0.01)


def _load_running(name: str, host: str) -> Lab:
    state.need_root()
    lab = state.load(state.check_name(name))
    if lab is not None and host not in lab.hosts:
        raise BadInput(f"{host!r} is not a host of the local lab {name!r}", f"name {' or '.join(lab.hosts)}")
    if lab is None or not lab.hosts[host].alive():
        raise BadInput(f"the local lab {name!r} is not up", "`lab local up` brings it up")
    return lab


@contextmanager
def _locked() -> Iterator[None]:
    """Hold the lock that lets only one `up` or `down` run at a time."""
    cache = root_image.cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    with os.fdopen(durable.open_own(cache / "labs.lock", os.O_WRONLY), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
