"""A server whose store is measured by itself, and the session that the measurement runs in."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from lab.base.errors import LabFailure, RestoreError
from lab.platforms import Counters, Timing
from lab.run.case.made_store import MadeStore
from support.pairs import hosts_model, pair_of

MIB, GIB = 2**20, 2**30


class StoreServer:
    """A server's platform that notes what it is told, and answers as a test says; also a pool, which counts bytes."""

    def __init__(self, free_bytes: int = 100 * GIB) -> None:
        self.done: list[str] = []
        self.free_bytes_in_turn: list[int] = []  # each time that it is asked; then ``free_bytes``
        self.usual_free_bytes = free_bytes
        self.printed: Callable[[Sequence[str]], str] = lambda _: ""
        self.fails_at = self.fault = ""
        self.moved = [0, 0]
        self.forgets = self.can_be_made = True
        self.clock = self.files = self
        self.host = SimpleNamespace(run=lambda *_, **__: SimpleNamespace(stdout="fio-3.39\n"))
        self.programs = SimpleNamespace(call=lambda name: (name,))

    def time_transfer(self, interface: str, flush: str, argv: Sequence[str], deadline_s: float) -> Timing:
        command = " ".join(word.rpartition("/")[2] for word in argv if word.startswith(("if=", "of=", "--rw")))
        command = command or ("bonnie++" if argv[0] == "bonnie++" else "noise")
        self.done.append(f"{command}{' flushed' if flush else ''}")
        if self.fails_at and self.fails_at in self.done[-1]:
            raise LabFailure("server: dd: exit code 1: No space left on device")
        if flush:
            self.moved[1] += 12 * MIB
        elif command.endswith("null") and self.forgets:
            self.moved[0] += 8 * MIB
        counted = Counters(0, 0, 0.1, 0, {"mtu": "1500"})
        return Timing(0.5 + len(self.done) / 100, counted, "monotonic", "fsync", 0.1, printed=self.printed(argv))

    def make(self, case: Any) -> tuple[str, MadeStore]:
        self.done.append(f"made {case.option('zfs.ashift')}")
        if not self.can_be_made:
            raise LabFailure("server: zpool: no room")
        forget: Any = SimpleNamespace(run=lambda _: self.done.append("forgotten"))
        count: Any = SimpleNamespace(run=lambda _: f"read_bytes\t{self.moved[0]}\nwrite_bytes\t{self.moved[1]}\n")
        find_fault: Any = SimpleNamespace(run=lambda _: self.fault)
        levels = {"zfs.ashift": case.option("zfs.ashift"), "zfs.raid": "raidz"}
        return "/lab/store", MadeStore("zfs 2.3.9, raidz of 3", levels, GIB, forget, count, find_fault)

    def drop_caches(self) -> None:
        self.done.append("caches dropped")

    def remove(self, path: str, root: bool) -> None:
        assert not root
        self.done.append(f"removed {path.rpartition('/')[2]}")

    def free_bytes(self, path: str) -> int:
        return self.free_bytes_in_turn.pop(0) if self.free_bytes_in_turn else self.usual_free_bytes

    def folder(self, path: str, above: str, account: str) -> str:
        assert (above, account) == ("any", "me")
        return path


class Settings:
    """Settings that only note the folders that were made, and are gone again."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.stays = False

    @contextmanager
    def scope(self) -> Iterator[None]:
        mark = len(self.made)
        try:
            yield
        finally:
            gone, self.made[mark:] = self.made[mark:], []
            assert len(gone) == 1
            if self.stays:
                raise RestoreError([])

    def apply(self, folder: str) -> None:
        self.made.append(folder)


def session_of(server: StoreServer, tuned: bool = True, pool: bool = False) -> Any:
    """A session with the server's disk, or with a ``pool``."""
    facts = SimpleNamespace(available_bytes=16 * GIB, memory_bytes=16 * GIB, cores=2, is_root=pool, interface="eth0")
    pair = pair_of(
        hosts_model(server={"tune": "yes" if tuned else "no"}), hosts={"server": server.host},
        platforms={"server": server}, facts={"server": facts}, sides={"server": SimpleNamespace(user="me")},
    )  # fmt: skip
    make = server.make if pool else lambda _: ("/srv/disk/lab", None)
    return SimpleNamespace(pair=pair, settings=Settings(), set_up_store=make)
