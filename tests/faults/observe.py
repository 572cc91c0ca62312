"""The state of a local lab's hosts, as the kernel shows it outside of them.

Uses the lab's code only to learn the PID 1 of each host. Asks the emulated kernel of a Mac as the Mac's programs do."""

import hashlib
import json
import os
import re
import stat
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab.local import state

FOLDERS = ("/etc", "/srv", "/root", "/tmp", "/var/tmp", "/run", "/var/lib", "/dev/shm")
MAC_FOLDERS = ("/private", "/Users", "/Volumes", "/Library", "/System/Library", "/dev", "/linux/etc", "/linux/tmp")
MAC = "-m emulated_mac.kernel"  # words of the process that emulates the kernel
MAC_TRANSIENT = "-m compileall"  # runs for a while after the start
# The state of the emulated kernel that a restart or the lab may change, without values that always change
ASK_MAC = """
import json, sys
sys.path.insert(0, "/linux/opt")
from emulated_mac.kernel_client import call
values = {f"variable {name}": call("sysctl_read", name=name) for name in call("sysctl_names")}
for name in ("vm.loadavg", "vm.swapusage", "kern.boottime", "kern.bootsessionuuid"):
    values.pop(f"variable {name}", None)
values |= {f"job {job['label']}": [job["disabled"], job["loaded"]] for job in call("services")}
values |= {f"share point {point['name']}": point for point in call("share_points")}
values |= {"mounts of the Mac": call("mounts"), "images": call("images")}
print(json.dumps({name: json.dumps(value) for name, value in values.items()}))
"""
LEASE = "file-share-lab: lease"  # the name of the guard of a lease
LOOK_AT_NETWORK = "grep -rs '' /proc/sys/net; ip -j address; ip -j route; tc -j qdisc"
LINK_KEYS = ("mtu", "qdisc", "txqlen", "address", "link_type")
BOOT_SSHD = re.compile(r"sshd: (/linux)?/usr/sbin/sshd -D -e (?!.*file-share-lab-).*\[listener\] .*")
SETTLE_DEADLINE_S = 60.0
ENDS = 2 << 20
State = dict[str, str]


@dataclass(frozen=True)
class Process:
    """A process of a host; ``pid`` and ``parent`` are numbers of this machine."""

    pid: int
    parent: int
    name: str
    command: str

    @property
    def is_boot_sshd(self) -> bool:
        """Whether it is the sshd that started with the host and serves the controller."""
        return BOOT_SSHD.fullmatch(self.command) is not None


def processes(init: int) -> dict[int, Process]:
    """The processes of the host whose PID 1 is ``init``, without zombies."""
    namespace, running = os.readlink(f"/proc/{init}/ns/pid"), {}  # noqa: PTH115  looked at often, by thousands
    for pid in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        try:
            if os.readlink(f"/proc/{pid}/ns/pid") != namespace:  # noqa: PTH115
                continue
            name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
            state_letter, parent = rest.split()[:2]
            if state_letter != "Z":
                running[int(pid)] = Process(int(pid), int(parent), name, _command(pid))
        except OSError:  # the process has just ended
            continue
    return running


def _command(pid: str) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ").strip()


def is_controller_connected(name: str) -> bool:
    """Whether a process here has a connection to a host of a local lab."""
    for pid in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        with suppress(OSError):  # the process has just ended
            if f"lab.local.proxy_command {name} " in _command(pid):
                return True
    return False


def _digest_of_ends(disk: Path) -> str:
    with disk.open("rb") as device:
        begin = device.read(ENDS)
        device.seek(-ENDS, os.SEEK_END)
        return hashlib.sha256(begin + device.read()).hexdigest()


def daemons(init: int) -> list[Process]:
    """What runs in a host by itself: not started with the host, and not below its sshd, as commands are."""
    running = processes(init)

    def came_with_the_host(process: Process | None) -> bool:
        while process is not None and not process.is_boot_sshd:
            process = running.get(process.parent)
        return process is not None

    return [process for process in running.values()
            if process.pid != init and MAC not in process.command and not came_with_the_host(process)]  # fmt: skip


def running_lab(name: str) -> state.Lab:
    lab = state.load(name)
    assert lab is not None, f"the local lab {name} is gone"
    return lab


class Observer:
    """Looks at the hosts of one local lab, and at a ``disk`` that the server may write to.

    Keeps the digest of each file until the kernel shows a change.
    """

    def __init__(self, name: str, disk: Path | None = None):
        self.name, self.disk = name, disk
        self._hashes: dict[tuple[str, int, int, int], str] = {}

    def init(self, host: str) -> int:
        """The PID 1 of a host, as this machine numbers it."""
        return running_lab(self.name).hosts[host].pid

    def settle(self) -> None:
        """Wait until all hosts have started and no connection is open."""
        deadline = time.monotonic() + SETTLE_DEADLINE_S
        while self._passing() and time.monotonic() < deadline:
            time.sleep(0.1)

    def _passing(self) -> bool:
        if is_controller_connected(self.name):
            return True
        hosts = [processes(host.pid) for host in running_lab(self.name).hosts.values()]
        return any(_is_session(process, host) or MAC_TRANSIENT in process.command
                   for host in hosts for process in host.values())  # fmt: skip

    def state(self) -> State:
        """All that is compared, as text by name."""
        state: State = {"disk: its ends": _digest_of_ends(self.disk)} if self.disk else {}
        if is_controller_connected(self.name):
            state["controller: a connection"] = "open"
        for host, booted in running_lab(self.name).hosts.items():
            init = booted.pid
            looks = [self._files, self._mounts, self._processes, self._network]
            for look in [*looks, _mac] if is_mac(init) else looks:
                state |= {f"{host}: {what}": how for what, how in look(init)}
        return state

    def _files(self, init: int) -> Iterator[tuple[str, str]]:
        root = Path(f"/proc/{init}/root")
        # touching a dead mount hangs; the table of mounts shows that it exists
        avoided = {str(root) + line.split()[1] for line in _mounts(init) if line.split()[2].startswith("fuse")}
        waiting = [f"{root}{folder}" for folder in (MAC_FOLDERS if is_mac(init) else FOLDERS)]
        while waiting:
            for entry in _entries(waiting.pop()):
                if entry.path in avoided:
                    continue
                with suppress(FileNotFoundError):  # a file that has just gone is no difference
                    status = entry.stat(follow_symlinks=False)
                    how = f"{stat.filemode(status.st_mode)} {status.st_uid}:{status.st_gid}"
                    yield f"file {entry.path.removeprefix(str(root))}", f"{how} {self._content(entry, status)}"
                    waiting += [entry.path] if entry.is_dir(follow_symlinks=False) else []

    def _content(self, entry: os.DirEntry[str], status: os.stat_result) -> str:
        if entry.is_symlink():
            return os.readlink(entry.path)  # noqa: PTH115  as it is written, not as a path
        if not stat.S_ISREG(status.st_mode):
            return ""
        key = (entry.path.partition("/root")[2], status.st_ino, status.st_size, status.st_ctime_ns)
        if key not in self._hashes:
            self._hashes[key] = hashlib.sha256(Path(entry.path).read_bytes()).hexdigest()
        return self._hashes[key]

    def _mounts(self, init: int) -> Iterator[tuple[str, str]]:
        yield from ((f"mount {line}", str(count)) for line, count in Counter(_mounts(init)).items())

    def _processes(self, init: int) -> Iterator[tuple[str, str]]:
        running = processes(init)
        lasting = [process for process in running.values() if not _is_session(process, running)]
        commands = Counter("sshd" if process.is_boot_sshd else process.command for process in lasting)
        yield from ((f"process {command}", str(count)) for command, count in commands.items())

    def _network(self, init: int) -> Iterator[tuple[str, str]]:
        look = ["nsenter", "--target", str(init), "--net", "--", "sh", "-c", LOOK_AT_NETWORK]
        *sysctls, links, routes, queues = subprocess.run(look, capture_output=True, text=True).stdout.splitlines()
        for line in sysctls:
            name, _, value = line.partition(":")
            yield f"sysctl {name.removeprefix('/proc/sys/')}", value
        for link in json.loads(links):
            yield f"link {link['ifname']}", " ".join(f"{key} {link.get(key)}" for key in LINK_KEYS)
            for address in link["addr_info"]:
                if address["scope"] != "link":  # IPv6 adds these some time after the link is up
                    yield f"address {link['ifname']} {address['local']}/{address['prefixlen']}", "set"
        for route in json.loads(routes):
            yield f"route {route['dst']}", f"{route['dev']} {route.get('gateway')}"
        for queue in json.loads(queues):
            yield f"queue {queue['dev']} {queue['kind']}", json.dumps(queue["options"])


def is_mac(init: int) -> bool:
    return Path(f"/proc/{init}/root/linux/etc").is_dir()


def _mac(init: int) -> Iterator[tuple[str, str]]:
    ask = ["nsenter", "--target", str(init), "--all", "--", "/linux/usr/bin/python3", "-c", ASK_MAC]
    answers = json.loads(subprocess.run(ask, capture_output=True, text=True, check=True).stdout)
    yield from ((f"mac {what}", how) for what, how in answers.items())


def _is_session(process: Process, running: dict[int, Process]) -> bool:
    """Whether a process is the host's own sshd serving one connection."""
    parent = running.get(process.parent)
    return process.name == "sshd-session" and parent is not None and parent.is_boot_sshd


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except FileNotFoundError:
        return []


def _mounts(init: int) -> list[str]:
    return Path(f"/proc/{init}/mounts").read_text().splitlines()


def difference(before: State, after: State) -> list[str]:
    """The changes, one a line."""
    lines = [f"gone: {name}" for name in sorted(before.keys() - after.keys())]
    lines += [f"new: {name} ({after[name]})" for name in sorted(after.keys() - before.keys())]
    both = sorted(before.keys() & after.keys())
    return lines + [f"changed: {name}: {before[name]} -> {after[name]}" for name in both if before[name] != after[name]]
