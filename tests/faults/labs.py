"""Local labs to play cells in, and processes to play them: one cell at a time in each lab."""

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

from support.local_lab import Bench

from lab.local import syscalls

from . import clock, plan
from .guests import GuestObserver
from .observe import Observer, State, is_mac

# Instead of a second each time, as many bytes as a moment takes
IPERF3 = """#!/bin/sh
case " $* " in *" --client "*) set -- $(echo "$*" | sed 's/--time [0-9]*/--bytes 4M/') ;; esac
for real in /linux/usr/bin/iperf3 /usr/bin/iperf3; do [ ! -x $real ] || exec $real "$@"; done
"""
IPERF3_AT = ("opt/homebrew/bin/iperf3", "usr/local/bin/iperf3")  # the first that is there, as on an emulated Mac

DISK_BYTES = 200 << 20

FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Kind:
    """What the labs are: words of `lab local up --platform`, how many clients, and how their hosts are reached."""

    platforms: tuple[str, ...] = ()
    transport: str = "paramiko"
    clients: int = 1
    zfs: bool = False

    @property
    def words(self) -> list[str]:
        """Of `lab local up`."""
        platforms = [word for platform in self.platforms for word in ("--platform", platform)]
        return ["--clients", str(self.clients), *platforms, *(["--kernel", "own", "--zfs"] if self.zfs else [])]

    @property
    def has_mac_server(self) -> bool:
        """Whether the server is an emulated Mac."""
        return any(word.removeprefix("server=").startswith("macos") for word in self.platforms)


class Place:
    """A local lab where cells are played, one at a time."""

    def __init__(self, name: str, folder: Path, kind: Kind):
        self.bench, self.kind = Bench(name, folder), kind
        self.disk = self._make_disk(folder / "disk")
        self.up()

    def up(self) -> None:
        """Bring it up, and note how it is."""
        self.bench.up(*self.kind.words, ceilings=True)
        self.observer = self._observer()
        changes = {f"{host}_ram_disk": "64 MiB" for host in self.bench.host_names}
        changes |= {f"{host}_transport": self.kind.transport for host in self.bench.host_names}
        for host in self.bench.host_names:
            self._prepare(host)
        self.hosts = self.bench.changed_hosts(**changes, **self._of_disk())
        self.observer.settle()
        self.before: State = self.observer.state()

    def _make_disk(self, file: Path) -> str:
        """The loop device over a new file, which a sweep names as a disk."""
        with file.open("wb") as disk:
            disk.truncate(DISK_BYTES)
        find = ["losetup", "--find", "--show", str(file)]
        return subprocess.run(find, check=True, capture_output=True, text=True).stdout.strip()

    def _observer(self) -> Observer:
        return Observer(self.bench.name, Path(self.disk))

    def _shorten_iperf3(self, host: str) -> None:
        root = Path(f"/proc/{self.observer.init(host)}/root")
        program = next((root / path for path in IPERF3_AT if (root / path).is_symlink()), root / IPERF3_AT[-1])
        program.unlink(missing_ok=True)
        program.write_text(IPERF3)
        program.chmod(0o755)

    def _prepare(self, host: str) -> None:
        self._shorten_iperf3(host)
        if clock.is_possible() and not is_mac(self.observer.init(host)):
            clock.install(self.observer.init(host))

    def _of_disk(self) -> dict[str, str]:
        """What the hosts file says of the disk, which Linux takes as the server."""
        if is_mac(self.observer.init("server")):
            return {}
        return {"share_path": "/srv", "share_devices": self.disk, "share_image_size": "160 MiB"}

    def release(self) -> None:
        """Give the disk back."""
        subprocess.run(["losetup", "--detach", self.disk], check=True)

    def down(self) -> None:
        """Take it down."""
        self.bench.lab("local", "down", "--name", self.bench.name)

    def sweep(self, name: str, seed: int) -> Path:
        """The file of a sweep."""
        name = plan.KILLED[0] if name == plan.RESTORE else name
        path = self.bench.directory / f"{name}.toml"
        path.write_text(plan.SWEEP.format(name=name, seed=seed, factors=plan.ALL[name]))
        return path


class GuestPlace(Place):
    """A local lab of guests with ZFS, whose disks are in files of their own and whose processes nobody sees outside."""

    def _make_disk(self, file: Path) -> str:
        return ""

    def _observer(self) -> Observer:
        return GuestObserver(self.bench)

    def _prepare(self, host: str) -> None:
        self._shorten_iperf3(host)

    def _shorten_iperf3(self, host: str) -> None:
        self.bench.execute(host, "sh", "-c", f'printf %s "$1" >/{IPERF3_AT[-1]}', "sh", IPERF3)
        self.bench.inside(host, f"chmod 755 /{IPERF3_AT[-1]}")

    def _of_disk(self) -> dict[str, str]:
        return {}

    def release(self) -> None:
        """There is none to be given back."""


@contextmanager
def places(count: int, kind: Kind) -> Iterator[list[Place]]:
    """So many local labs of one kind, side by side."""
    with tempfile.TemporaryDirectory(prefix="file-share-lab-faults-") as folder:
        made: list[Place] = []
        try:
            for number in range(count):
                directory = Path(folder) / str(number)
                directory.mkdir()
                place_of = GuestPlace if kind.zfs else Place
                made.append(place_of(f"faults-{os.getpid()}-{number}", directory, kind))
            yield made
        finally:
            for place in made:
                place.down()
                place.release()


def apart(work: Any, *arguments: Any) -> tuple[connection.Connection, Any]:
    """Start work in a process of its own; its result comes through the connection, and ends it."""
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
    """Do ``work(place, task)`` for each task, in processes of their own, one a place; yields as they are done."""
    waiting = deque(tasks)
    running: dict[Any, tuple[Place, Any, Any]] = {}
    places_free = list(free)
    try:
        while waiting or running:
            while waiting and places_free:
                place, task = places_free.pop(), waiting.popleft()
                ours, process = apart(work, place, task)
                running[ours] = (place, task, process)
            done: Any
            for done in connection.wait(list(running)):
                place, task, process = running[done]
                try:
                    result = done.recv()
                except EOFError:
                    raise SystemExit(f"faults: {task}: the harness itself failed") from None
                process.join()
                del running[done]
                yield place, task, result
                places_free.append(place)
    finally:
        for _, _, process in running.values():
            process.kill()
            process.join()
