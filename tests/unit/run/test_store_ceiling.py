"""The server's own store, measured by itself: on real hosts, and what becomes of it where that fails."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from support.synthetic_runs import trial

from lab.base.errors import LabFailure
from lab.design.blocks import Slot
from lab.design.case import Case
from lab.design.factors import Direction
from lab.results.observed import Observed
from lab.results.trial import Trial
from lab.run import store_ceiling

SLOT = Slot(1, 1, Case("smb", "cp", Direction.WRITE, 1500, "default", "disk", "file", 4096))


class Server:
    """A server's platform, on which nothing can be written."""

    removed: tuple[str, ...] = ()

    @property
    def clock(self) -> Server:
        return self

    @property
    def files(self) -> Server:
        return self

    def time_transfer(self, *_: Any) -> None:
        raise LabFailure("server: perl: exit code 28: No space left on device")

    def remove(self, *paths: str) -> None:
        self.removed += paths


def pair(server: Server, tuned: bool = True) -> Any:
    return SimpleNamespace(
        platforms={"server": server}, interface=lambda _: "eth0",
        config=SimpleNamespace(may_tune=lambda _: tuned),
    )  # fmt: skip


def test_a_store_that_cannot_be_measured_is_a_failed_row_and_leaves_nothing() -> None:
    server = Server()
    rows: list[Trial] = []
    ids = store_ceiling.ids(pair(server), SLOT)
    store_ceiling.measure(pair(server), "/srv/disk/lab", trial(status="ok"), ids, rows.append)
    assert [(row.trial_id, row.direction, row.status) for row in rows] == [
        ("b001-store-write", "write", "failed"), ("b001-store-read", "read", "failed")
    ]  # fmt: skip
    assert "No space left" in rows[0].reason
    (path,) = server.removed
    assert re.fullmatch(r"/srv/disk/lab/b001-store-write-[0-9a-f]{16}\.bin", path)
    assert store_ceiling.add_ceiling(Observed(), rows[0]) == Observed()


def test_caches_of_a_server_that_is_not_tuned_are_its_own() -> None:
    assert list(store_ceiling.ids(pair(Server(), tuned=False), SLOT)) == ["write"]
    assert list(store_ceiling.ids(pair(Server()), SLOT)) == ["write", "read"]


def test_what_disks_moved_is_known_only_where_they_are_counted() -> None:
    counted = {"server": {"disk_written_bytes": 4096, "disk_read_bytes": 7}}
    ceiling = trial(protocol="store", size_bytes=1000, elapsed_s=0.5, observed=counted)
    assert store_ceiling.add_ceiling(Observed(), ceiling) == Observed(
        store_ceiling_bytes_per_s=2000, store_ceiling_disk_bytes=4096
    )
    bare = trial(protocol="store", size_bytes=1000, elapsed_s=0.5)
    assert store_ceiling.add_ceiling(Observed(), bare) == Observed(store_ceiling_bytes_per_s=2000)
    assert store_ceiling.add_ceiling(Observed(), None) == Observed()
