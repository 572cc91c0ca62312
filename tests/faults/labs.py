"""Local labs to play cells in, and one process for each cell."""

import multiprocessing
import os
import signal
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path
from typing import Any

from support.guests import left_but_for_zfs
from support.input_files import toml
from support.local_lab import Bench, succeeded

from lab.local import syscalls

from . import clock, plan
from .observe import Observer, State, is_controller_connected, is_mac

# Send some bytes, instead of measuring for a second
IPERF3 = """#!/bin/sh
case " $* " in *" --client "*) set -- $(echo "$*" | sed 's/--time [0-9]*/--bytes 4M/') ;; esac
for real in /linux/usr/bin/iperf3 /usr/bin/iperf3; do [ ! -x $real ] || exec $real "$@"; done
"""
# On an emulated Mac the first path is a link
REPLACE_IPERF3 = """
for path in /opt/homebrew/bin/iperf3 /usr/local/bin/iperf3; do [ ! -L "$path" ] || break; done
rm -f "$path" && printf %s "$1" > "$path" && chmod 755 "$path"
"""

# Disks, loop devices and modules that a pool of the lab needs
POOL_TRACES = "ls -d /dev/file-share-lab-* /sys/block/loop*/loop/backing_file /sys/module/zfs 2>/dev/null || :"
DISK_BYTES = 200 << 20

FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Kind:
    """The kind of labs: platforms as `lab local up --platform` takes them, clients, transport, ZFS."""

    platforms: tuple[str, ...] = ()
    transport: str = "paramiko"
    clients: int = 1
    zfs: bool = False

    @property
    def words(self) -> list[str]:
        """Options of `lab local up`."""
        platforms = [word for platform in self.platforms for word in ("--platform", platform)]
        return ["--clients", str(self.clients), *platforms, *(["--kernel", "own", "--zfs"] if self.zfs else [])]

    @property
    def has_mac_server(self) -> bool:
        return any(word.removeprefix("server=").startswith("macos") for word in self.platforms)


class GuestObserver(Observer):
    """Looks at the hosts of one local lab from inside, because a guest's processes are not visible outside."""

    def __init__(self, bench: Bench):
        super().__init__(bench.name)
        self.bench = bench

    def settle(self) -> None:
        self.bench.wait_until_free()

    def state(self) -> State:
        lines_by_host = left_but_for_zfs(self.bench)
        state = {f"{host}: {line}": str(lines.count(line)) for host, lines in lines_by_host.items() for line in lines}
        state |= {f"server: of pools {line}": "there" for line in self.bench.inside("server", POOL_TRACES).splitlines()}
        if is_controller_connected(self.name):
            state["controller: a connection"] = "open"
        return state


class Place:
    """A local lab where cells are played one by one, with a disk for sweeps that name one; guests have disks inside."""

    def __init__(self, name: str, folder: Path, kind: Kind):
        self.bench, self.kind = Bench(name, folder), kind
        self.disk = "" if kind.zfs else _make_loop_device(folder / "disk")
        self.up()

    def up(self) -> None:
        """Bring the lab up, and note its state."""
        self.bench.up(*self.kind.words, ceilings=True)
        self.observer = GuestObserver(self.bench) if self.kind.zfs else Observer(self.bench.name, Path(self.disk))
        changes = {f"{host}_ram_disk": "64 MiB" for host in self.bench.host_names}
        changes |= {f"{host}_transport": self.kind.transport for host in self.bench.host_names}
        for host in self.bench.host_names:
            succeeded(self.bench.execute(host, "sh", "-c", REPLACE_IPERF3, "sh", IPERF3))
            if not self.kind.zfs and clock.is_possible() and not is_mac(self.observer.init(host)):
                clock.install(self.observer.init(host))
        if self.disk and not is_mac(self.observer.init("server")):
            changes |= {"share_path": "/srv", "share_devices": self.disk, "share_image_size": "160 MiB"}
        self.hosts = self.bench.changed_hosts(**changes)
        self.observer.settle()
        self.before: State = self.observer.state()

    def release(self) -> None:
        if self.disk:
            subprocess.run(["losetup", "--detach", self.disk], check=True)

    def down(self) -> None:
        self.bench.lab("local", "down", "--name", self.bench.name)

    def sweep(self, name: str, seed: int) -> Path:
        name = plan.KILLED[0] if name == plan.RESTORE else name
        path = self.bench.directory / f"{name}.toml"
        design = toml({"name": name, "blocks": 1, "seed": seed, "ceiling_seconds": 1.0})
        path.write_text(f'{design}[workload]\nsize = "1 MiB"\n[factors]\n{toml(plan.ALL[name])}')
        return path


def _make_loop_device(file: Path) -> str:
    with file.open("wb") as disk:
        disk.truncate(DISK_BYTES)
    find = ["losetup", "--find", "--show", str(file)]
    return subprocess.run(find, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def places(count: int, kind: Kind) -> Iterator[list[Place]]:
    """Local labs of one kind, side by side."""
    with tempfile.TemporaryDirectory(prefix="file-share-lab-faults-") as folder:
        made: list[Place] = []
        try:
            for number in range(count):
                directory = Path(folder) / str(number)
                directory.mkdir()
                made.append(Place(f"faults-{os.getpid()}-{number}", directory, kind))
            yield made
        finally:
            for place in made:
                place.down()
                place.release()


def apart(work: Any, *arguments: Any) -> tuple[connection.Connection, Any]:
    """Start work in a process of its own, and get its result through the connection."""
    ours, theirs = FORK.Pipe(duplex=False)
    parent = os.getpid()

    def job() -> None:
        syscalls.die_with_parent(parent)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the matrix, which ends this
        theirs.send(work(*arguments))

    process = FORK.Process(target=job, daemon=True)
    process.start()
    theirs.close()
    return ours, process


def spread(work: Any, tasks: Sequence[Any], free: list[Place]) -> Iterator[tuple[Place, Any, Any]]:
    """Do ``work(place, task)`` for each task, one process a place; yields results as they come."""
    waiting = deque(tasks)
    running: dict[Any, tuple[Place, Any, Any]] = {}
    places_free = list(free)
    try:
        while waiting or running:
            while waiting and places_free:
                place, task = places_free.pop(), waiting.popleft()
                ours, process = apart(work, place, task)
                running[ours] = (place, task, process)
            ready: Any
            for ready in connection.wait(list(running)):
                place, task, process = running[ready]
                try:
                    result = ready.recv()
                except EOFError:
                    raise SystemExit(f"faults: {task}: the harness itself failed") from None
                process.join()
                del running[ready]
                yield place, task, result
                places_free.append(place)
    finally:
        for _, _, process in running.values():
            process.kill()
            process.join()
