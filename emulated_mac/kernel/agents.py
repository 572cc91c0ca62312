"""Jobs that an account gives to its launchd (``gui/501``), and what macOS's privacy refuses them.

Nobody is asked about a job, so it is kept out. From 10.15 on it may not open what is on a network volume. On macOS 27
it blocks there until it is killed, as one author saw on a beta. From 15 on it reaches no other host of the local
network, the router excepted, unless it is root or the program is Apple's. The faults ``jobs-in-volumes`` and
``jobs-on-network`` allow it. Sources: docs/reference/platforms.md.
"""

import errno
import os
import plistlib
import pwd
import socket
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import interfaces, processes, watched_calls
from .mounts import table
from .system_calls import Caller, Kernel, system_call

LAUNCHER = Path(__file__).parents[1] / "start_agent.py"
NETWORK_VOLUMES = ("smbfs", "nfs", "afpfs")
PATH = "/usr/bin:/bin:/usr/sbin:/sbin"


@dataclass
class Agent:
    """A loaded job: its property list, and its process while it runs."""

    content: dict[str, Any]
    process: subprocess.Popen[bytes] | None = None


class Agents(dict[tuple[int, str], Agent]):
    """The loaded jobs by account and label."""


@system_call
def agent_load(kernel: Kernel, caller: Caller, user: int, path: str) -> None:
    """Load a job, and start it if it asks for that. EALREADY; EIO for what is no job; EPERM for another's launchd."""
    _check(caller, user)
    try:
        content = plistlib.loads(Path(path).read_bytes())
        key = (user, str(content["Label"]))
        content["ProgramArguments"][0]
    except (OSError, ValueError, LookupError, TypeError, plistlib.InvalidFileException) as error:
        raise OSError(errno.EIO, path) from error
    if key in kernel.part(Agents):
        raise OSError(errno.EALREADY, path)
    kernel.part(Agents)[key] = Agent(content)
    if content.get("RunAtLoad"):
        _start(kernel, key)


@system_call
def agent_start(kernel: Kernel, caller: Caller, user: int, label: str) -> None:
    """Start a loaded job, unless it runs. ESRCH if it is not loaded."""
    _check(caller, user)
    _start(kernel, _find(kernel, user, label))


@system_call
def agent_unload(kernel: Kernel, caller: Caller, user: int, label: str) -> None:
    """Forget a job, and end its process. ESRCH if it is not loaded."""
    _check(caller, user)
    agent = kernel.part(Agents).pop(_find(kernel, user, label))
    if agent.process:
        agent.process.kill()
        agent.process.wait()


def _check(caller: Caller, user: int) -> None:
    if caller.uid not in (0, user):
        raise OSError(errno.EPERM, "Operation not permitted")


def _find(kernel: Kernel, user: int, label: str) -> tuple[int, str]:
    if (user, label) not in kernel.part(Agents):
        raise OSError(errno.ESRCH, label)
    return user, label


def _start(kernel: Kernel, key: tuple[int, str]) -> None:
    user, label = key
    agent = kernel.part(Agents)[key]
    if agent.process and agent.process.poll() is None:
        return
    account = pwd.getpwuid(user)
    environment = {
        "HOME": account.pw_dir, "LOGNAME": account.pw_name, "USER": account.pw_name, "SHELL": account.pw_shell,
        "PATH": PATH, "TMPDIR": "/private/tmp/", "XPC_FLAGS": "0x0", "XPC_SERVICE_NAME": label,
        **agent.content.get("EnvironmentVariables", {}),
    }  # fmt: skip
    here, there = socket.socketpair()
    with there:
        words = ["/linux/usr/bin/python3", "-IS", str(LAUNCHER), str(there.fileno()), str(user)]
        agent.process = subprocess.Popen(
            [*words, *agent.content["ProgramArguments"]], cwd="/", env=environment, pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    threading.Thread(target=_watch, args=(kernel, here, agent.process), daemon=True).start()


def _watch(kernel: Kernel, launcher: socket.socket, process: subprocess.Popen[bytes]) -> None:
    """Answer the calls of a job and of all that it starts, until the last of them has ended."""
    with launcher:
        _, (descriptor,), _, _ = socket.recv_fds(launcher, 16, 1)
    while call := watched_calls.next_call(descriptor):
        refusal = _refusal(kernel, call)
        if refusal != errno.EWOULDBLOCK:  # that is for calls that block: they get no answer
            watched_calls.answer(descriptor, call.id, refusal)
    os.close(descriptor)
    process.wait()


def _refusal(kernel: Kernel, call: watched_calls.Call) -> int:
    """The errno that a call of a job fails with; 0 if it goes on."""
    number = kernel.profile.number
    if call.path and number >= (10, 15) and _is_on_network_volume(kernel, call.path):
        refusal = errno.EWOULDBLOCK if number >= (27,) else errno.EPERM
        return 0 if kernel.fault("jobs-in-volumes") else refusal
    if call.address and number >= (15,) and _is_neighbour(call.address) and not _is_exempt(call.pid):
        return 0 if kernel.fault("jobs-on-network") else errno.EHOSTUNREACH
    return 0


def _is_on_network_volume(kernel: Kernel, path: str) -> bool:
    targets = [mount.target for mount in list(table(kernel)) if mount.type in NETWORK_VOLUMES]
    if not targets:
        return False
    spellings = (os.path.normpath(path), os.path.realpath(path))
    return any(f"{spelling}/".startswith(f"{target}/") for spelling in spellings for target in targets)


def _is_neighbour(address: bytes) -> bool:
    """Whether a socket's address is another host on a network of this Mac's, and not the router."""
    family = int.from_bytes(address[:2], "little")
    link = interfaces.find("en0")
    if link is None or family not in (socket.AF_INET, socket.AF_INET6):
        return False
    if family == socket.AF_INET:
        ip = int.from_bytes(address[4:8], "big")
        return bool(link.address and link.address.reaches(ip) and link.address.ip != ip)
    text = socket.inet_ntop(family, address[8:24])
    return any(own.reaches(text) and own.text != text for own in link.ipv6)


def _is_exempt(pid: int) -> bool:
    """Whether a process is root's, or runs a program of Apple's: what Homebrew or its user installed is not."""
    process = processes.find(pid)
    if process is None or process.euid == 0:
        return True
    program = os.readlink(f"{processes.PROC}/{pid}/exe")  # noqa: PTH115
    return program.startswith("/linux/") and os.path.basename(process.argv[0]) != "iperf3"  # noqa: PTH119
