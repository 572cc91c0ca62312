"""The request for a local lab, and the state file of a running one: its processes, its hosts and its settings.

All files of a lab named NAME that are not in the cache are in ``/run/file-share-lab/NAME`` while the lab is up. A
process is identified by its pid *and* its start time, because pids are used again.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from operator import index
from pathlib import Path

from lab.base import durable, untrusted
from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import one_line
from lab.local.names import ALL_HOSTS
from lab.local.names import HOSTS as HOSTS

RUN = Path("/run/file-share-lab")
ADDRESS = {host: f"10.99.0.{number}" for number, host in enumerate(ALL_HOSTS, 1)}
PREFIX_LENGTH = 24
DATA_INTERFACE = "eth0"
# The signal that asks the supervisor for a reboot of each host
REBOOT_SIGNALS: dict[str, int] = {host: signal.SIGRTMIN + number for number, host in enumerate(ALL_HOSTS)}


@dataclass(frozen=True)
class Process:
    """A process of this machine; ``started`` is field 22 of ``/proc/PID/stat``, in clock ticks since boot."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Process:
        """The process that has this pid now. Raises FileNotFoundError where there is none."""
        return cls(pid, int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]))

    def alive(self) -> bool:
        """Whether the process still runs; a zombie does not."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return False
        return int(stat[19]) == self.started and stat[0] != "Z"

    def signal(self, number: int) -> None:
        """Send a signal if the process still runs; never to another process with the same pid."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            with suppress(ProcessLookupError):  # it has just ended
                if self.alive():
                    signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


@dataclass(frozen=True)
class Request:
    """The options of a local lab, checked by :func:`lab.local.lifecycle.up`, for its supervisor."""

    rates: dict[str, str]  # by host
    delay: str
    hosts_file: str
    platforms: dict[str, str]  # by host
    backend: str
    why: str  # the reason for this backend

    def to_json(self) -> str:
        """The request as one argument of the supervisor."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Lab:
    """A running local lab, as its state file describes it."""

    name: str
    instance: str
    supervisor: Process
    cleaner: Process
    hosts: dict[str, Process]
    rate: str  # the rate of the links of hosts that are not in ``rates``
    delay: str
    hosts_file: str
    platforms: dict[str, str]  # by host: linux, or macos@VERSION for an emulated Mac
    backend: str  # a name in lab.local.backends
    why: str  # the reason for this backend
    ssh_address: str  # of that backend
    rates: dict[str, str] = field(default_factory=dict)  # by host

    def save(self) -> None:
        """Write the state file in one step."""
        durable.replace(state_path(self.name), json.dumps(asdict(self), indent=1).encode())


def directory(name: str) -> Path:
    """The folder of a lab's files while it is up."""
    return RUN / name


def state_path(name: str) -> Path:
    """The state file of a lab, which exists only while the lab is up."""
    return directory(name) / "state.json"


def load(name: str) -> Lab | None:
    """The lab named ``name``, or None if it is not up. Raises BadInput for a damaged state file."""
    path = state_path(check_name(name))
    try:
        if path.stat().st_uid not in (0, os.geteuid()):  # the lab ends the processes and removes the files in it
            problem = f"{path} belongs to another user, and was written by no lab"
            raise BadInput(problem, f"look at it, and remove {path.parent}")
        return _parse(untrusted.read_file(path, untrusted.MOST_INPUT_BYTES).decode())
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise BadInput(f"the local lab {name!r} belongs to root", "run the same command with sudo") from error
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {one_line(reason_of(error), 200)}"
        raise BadInput(
            f"{path}: damaged ({reason}), so that its lab cannot be found",
            f"if a process `lab.local.supervisor {name}` still runs, end it, and it tidies up; "
            f"if not, remove {path.parent}",
        ) from error


def _parse(text: str) -> Lab:
    """Parse what :meth:`Lab.save` wrote. Raises ValueError, LookupError, TypeError or RecursionError."""
    raw = json.loads(text)
    raw |= {name: _process(raw[name]) for name in ("supervisor", "cleaner")}
    raw["hosts"] = {host: _process(process) for host, process in dict(raw["hosts"]).items()}
    lab = Lab(**raw)
    if not set(HOSTS) <= set(lab.hosts) <= set(ALL_HOSTS):
        raise ValueError("its hosts are not those of a local lab")
    texts = [lab.name, lab.instance, lab.rate, lab.delay, lab.hosts_file, lab.backend, lab.why, lab.ssh_address]
    of_hosts = [*(lab.platforms[host] for host in lab.hosts), *dict(lab.rates).values()]
    if not all(isinstance(value, str) for value in (*texts, *of_hosts)):
        raise TypeError("a value that should be text is not")
    return lab


def _process(raw: dict[str, int]) -> Process:
    return Process(index(raw["pid"]), index(raw["started"]))


def running() -> list[Lab]:
    """Every local lab that is up on this machine, by name."""
    return [lab for lab in _labs() if lab.supervisor.alive()]


def ended() -> list[Lab]:
    """Every local lab of which only files are left, by name."""
    return [lab for lab in _labs() if not lab.supervisor.alive()]


def _labs() -> Iterator[Lab]:
    return filter(None, [load(path.parent.name) for path in sorted(RUN.glob("*/state.json"))])


def is_gone(instance: str | None) -> bool:
    """Whether the hosts of ``instance``, NAME/TOKEN in a hosts file, belonged to a local lab that is down now."""
    if instance is None:
        return False
    lab = load(instance.partition("/")[0])  # no other lab, because its state may be damaged
    return lab is None or not lab.supervisor.alive() or f"{lab.name}/{lab.instance}" != instance


def check_name(name: str) -> str:
    """``name``, if it can be part of paths. Raises BadInput."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,30}", name):
        problem = f"--name {name!r} cannot name a lab"
        raise BadInput(problem, "use lower-case letters, digits and hyphens, 31 at the most")
    return name


def identity(name: str, kind: str) -> Path:
    """The controller's private key of this kind, such as ``ed25519``, for the hosts of a lab."""
    return directory(name) / f"id_{kind}"


def alias(name: str, host: str) -> str:
    """The name of a host for the controller, different in each lab."""
    return f"{host}.{name}.lab"


def hosts_file_name(name: str) -> str:
    """``hosts.local.ini``, or ``hosts.local.NAME.ini`` for a lab that is not the default."""
    return "hosts.local.ini" if name == "default" else f"hosts.local.{name}.ini"


def need_root() -> None:
    """Raise BadInput if this user cannot make namespaces and mounts."""
    if os.uname().sysname != "Linux":
        problem = "the local lab needs Linux because it is made of Linux namespaces"
        raise BadInput(problem, "on a Mac fill in hosts.ini and run the lab between two machines")
    if os.geteuid() != 0:
        raise BadInput("the local lab needs root for namespaces and mounts", "run the same command with sudo")
