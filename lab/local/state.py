"""The state file of a running local lab: its processes, its hosts and how it was brought up.

Everything of a lab named NAME that is not in the cache lives in ``/run/file-share-lab/NAME`` and goes when it goes.
A process is identified by its pid *and* its start time, so that a pid used again is not mistaken for it.
"""

from __future__ import annotations

import json
import os
import re
import signal
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
# Each host's signal to the supervisor, which asks for a reboot of that host
REBOOT_SIGNALS: dict[str, int] = {host: signal.SIGRTMIN + number for number, host in enumerate(ALL_HOSTS)}


@dataclass(frozen=True)
class Process:
    """A process of this machine; ``started`` is field 22 of ``/proc/PID/stat``, in clock ticks since boot."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Process:
        """The process that has this pid now. Raises FileNotFoundError where there is none."""
        stat = Path(f"/proc/{pid}/stat").read_text()
        return cls(pid, int(stat.rpartition(")")[2].split()[19]))

    def alive(self) -> bool:
        """Whether it still runs (a zombie does not)."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return False
        return int(stat[19]) == self.started and stat[0] != "Z"

    def signal(self, number: int) -> None:
        """Send it a signal, where it still runs; never another process that has its number since."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            if self.alive():
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            pass  # it has just ended
        finally:
            os.close(handle)


@dataclass(frozen=True)
class Lab:
    """A running local lab, as its state file describes it."""

    name: str
    instance: str
    supervisor: Process
    cleaner: Process
    hosts: dict[str, Process]
    rate: str  # of every host's link, but for those in ``rates``
    delay: str
    hosts_file: str
    platforms: dict[str, str]  # by host: linux, or macos@VERSION for an emulated Mac
    backend: str  # a name in lab.local.backends
    why: str  # the reason for this backend
    ssh_address: str  # of that backend
    rates: dict[str, str] = field(default_factory=dict)  # by host

    def save(self) -> None:
        """Write the state file, in one step."""
        durable.replace(state_path(self.name), json.dumps(asdict(self), indent=1).encode())


def directory(name: str) -> Path:
    """The folder of everything that a lab named ``name`` keeps while it is up."""
    return RUN / name


def state_path(name: str) -> Path:
    """The state file of a lab; it exists only while the lab is up."""
    return directory(name) / "state.json"


def load(name: str) -> Lab | None:
    """The lab named ``name``, or None where it is not up. Raises :class:`BadInput` for a state file that is damaged."""
    path = state_path(check_name(name))
    try:
        if path.stat().st_uid not in (0, os.geteuid()):  # it names processes that are ended, and files that are removed
            raise BadInput(
                f"{path} belongs to another user, and was written by no lab", f"look at it, and remove {path.parent}"
            )
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
    """What :meth:`Lab.save` wrote. Raises ValueError, LookupError, TypeError or RecursionError for anything else."""
    raw = json.loads(text)
    for field_name in ("supervisor", "cleaner"):
        raw[field_name] = _process(raw[field_name])
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
    labs = [load(path.parent.name) for path in sorted(RUN.glob("*/state.json"))]
    return [lab for lab in labs if lab is not None and lab.supervisor.alive()]


def ended() -> list[Lab]:
    """Every local lab whose files are left, though nothing keeps it up any more, by name."""
    labs = [load(path.parent.name) for path in sorted(RUN.glob("*/state.json"))]
    return [lab for lab in labs if lab is not None and not lab.supervisor.alive()]


def is_gone(instance: str | None) -> bool:
    """Whether these hosts, NAME/TOKEN as the hosts file has it, were those of a local lab that is no longer up."""
    if instance is None:
        return False
    lab = load(instance.partition("/")[0])  # no other lab is loaded, whose state may be damaged
    return lab is None or not lab.supervisor.alive() or f"{lab.name}/{lab.instance}" != instance


def check_name(name: str) -> str:
    """``name``, where it can name a lab: it becomes part of paths. Raises :class:`BadInput`."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,30}", name):
        raise BadInput(
            f"--name {name!r} cannot name a lab", "use lower-case letters, digits and hyphens, 31 at the most"
        )
    return name


def identity(name: str, kind: str) -> Path:
    """The controller's private key to the hosts of a lab that take keys of this kind, such as ``ed25519``."""
    return directory(name) / f"id_{kind}"


def alias(name: str, host: str) -> str:
    """The name under which the controller knows a host; distinct for labs side by side."""
    return f"{host}.{name}.lab"


def hosts_file_name(name: str) -> str:
    """``hosts.local.ini``, or ``hosts.local.NAME.ini`` for a lab with a name of its own."""
    return "hosts.local.ini" if name == "default" else f"hosts.local.{name}.ini"


def need_root() -> None:
    """Raise :class:`BadInput` with what to do where this user cannot make namespaces and mounts."""
    if os.uname().sysname != "Linux":
        raise BadInput(
            "the local lab needs Linux, for it is made of Linux namespaces",
            "on a Mac fill in hosts.ini and run the lab between two machines",
        )
    if os.geteuid() != 0:
        raise BadInput("the local lab needs root, for namespaces and mounts", "run the same command with sudo")
