"""The server's own store, measured by itself: on real hosts, and what becomes of it where that fails."""

from __future__ import annotations

import json
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest
from bench import Bench
from synthetic import trial

from lab.base.errors import LabFailure
from lab.design.case import Case
from lab.results.run_folder import RunFolder
from lab.run import store_ceiling

CASE = Case("smb", "cp", "write", 1500, "default", "disk", "file", 4096)
IDS = {"write": "b001-store-write", "read": "b001-store-read"}


@pytest.mark.local_lab
def test_once_a_block_and_known_to_every_trial_on_that_disk(bench: Bench) -> None:
    done = bench.run(protocol=["ssh", "smb"], store=["ram", "disk"], blocks=2, size="8 MiB")
    assert done.returncode == 0, done.stdout + done.stderr
    ceilings = {each.trial_id: each for each in RunFolder(bench.newest()).trials() if each.protocol == "store"}
    assert set(ceilings) == {f"b{block:03d}-store-{way}" for block in (1, 2) for way in ("write", "read")}
    for each in ceilings.values():
        assert (each.status, each.tool, each.store, each.size_bytes) == ("ok", "disk", "disk", 8 * 2**20), each.reason
        assert each.observed["server"]["cores"] > 0
    for moved in bench.trials():
        known = {name: value for name, value in moved["observed"].items() if name.startswith("store_ceiling")}
        ceiling = ceilings[f"b{moved['block']:03d}-store-{moved['direction']}"]
        assert known == (store_ceiling.known(ceiling) if moved["store"] == "disk" else {})
        assert moved["store"] == "ram" or known["store_ceiling_bytes_per_s"] > 0
    assert bench.inside("server", "ls -A /srv/disk") == ""


@pytest.mark.local_lab
def test_a_resumed_run_measures_it_once_a_block_too(bench: Bench) -> None:
    assert bench.run(store=["disk"]).returncode == 0
    path = bench.newest() / "trials.jsonl"
    whole = path.read_text().splitlines()
    kept = [line for line in whole if json.loads(line)["direction"] == "write" or json.loads(line)["protocol"] != "ssh"]
    assert len(kept) == len(whole) - 1
    path.write_text("\n".join(kept) + "\n")
    assert bench.lab("run", "--resume", str(bench.newest())).returncode == 0
    ids = [each.trial_id for each in RunFolder(bench.newest()).trials()]
    assert len(ids) == len(set(ids)) == len(whole)


class Server:
    """A server's platform, on which nothing can be written."""

    removed: tuple[str, ...] = ()

    def timed(self, *_: Any) -> None:
        raise LabFailure("server: perl: exit code 28: No space left on device")

    def remove_files(self, *paths: str) -> None:
        self.removed += paths


def session(server: Server, tuned: bool = True) -> Any:
    return SimpleNamespace(
        platforms={"server": server}, interface=lambda _: "eth0", store=lambda _: "/srv/disk/lab", token="t",
        config=SimpleNamespace(tuned=lambda _: tuned),
    )  # fmt: skip


def test_a_store_that_cannot_be_measured_is_a_failed_row_and_leaves_nothing() -> None:
    server = Server()
    rows = store_ceiling.trials(session(server), CASE, asdict(trial(status="ok")), IDS)
    assert [(row.trial_id, row.direction, row.status) for row in rows] == [
        ("b001-store-write", "write", "failed"), ("b001-store-read", "read", "failed")
    ]  # fmt: skip
    assert "No space left" in rows[0].reason
    assert server.removed == ("/srv/disk/lab/b001-store-write.bin",)
    assert store_ceiling.known(rows[0]) == {}


def test_caches_of_a_server_that_is_not_tuned_are_its_own() -> None:
    assert store_ceiling.ways(session(Server(), tuned=False)) == ("write",)
    assert store_ceiling.ways(session(Server())) == ("write", "read")


def test_what_disks_moved_is_known_only_where_they_are_counted() -> None:
    counted = {"server": {"disk_written_bytes": 4096, "disk_read_bytes": 7}}
    ceiling = trial(protocol="store", size_bytes=1000, elapsed_s=0.5, observed=counted)
    assert store_ceiling.known(ceiling) == {"store_ceiling_bytes_per_s": 2000, "store_ceiling_disk_bytes": 4096}
    bare = trial(protocol="store", size_bytes=1000, elapsed_s=0.5)
    assert store_ceiling.known(bare) == {"store_ceiling_bytes_per_s": 2000}
