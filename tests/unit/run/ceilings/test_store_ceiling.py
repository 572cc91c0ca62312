"""The server's own store, measured by itself: in which order, what happens if that fails, what trials get."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.parts import case_of
from support.paths import LINUX_CAPTURES
from support.store_server import MIB, StoreServer, session_of
from support.sweeps import sweep_with
from support.synthetic_runs import trial

from lab.base.errors import RestoreError
from lab.design.blocks import Slot
from lab.design.factors import Direction
from lab.design.sweep_file import Sweep
from lab.results.observed import Observed
from lab.run.ceilings import store_ceiling
from lab.run.transfer.recorded import Recorded

SLOT = Slot(1, 1, case_of(store="disk", size_bytes=6 * MIB))


def sweep_of_tools(*tools: str, **more: Any) -> Sweep:
    return sweep_with(store_tools=list(tools), factors={"store": ["disk"]}, **more)


def ids(recorded: Recorded, status: str = "ok") -> list[str]:
    return [trial.trial_id for trial in recorded.of_block(1) if trial.status == status]


def test_dd_writes_three_copies_then_memory_then_reads_them_cold_then_from_memory(recorded: Recorded) -> None:
    server = StoreServer()
    session = session_of(server)
    shots = store_ceiling.measure_store(session, SLOT, sweep_of_tools("dd"), recorded)
    assert server.done == [
        "noise flushed", *(f"noise copy-{number} flushed" for number in (1, 2, 3)), "noise unflushed",
        "removed unflushed", "caches dropped", *(f"copy-{number} null" for number in (1, 2, 3)), "copy-3 null",
    ]  # fmt: skip
    assert [shot.trial_id for shot in shots] == ["b001-store-write", "b001-store-write-2", "b001-store-write-3"]
    assert {shot.direction for shot in shots} == {"write"}
    assert ids(recorded)[3:] == [
        "b001-store-memory-write", "b001-store-read", "b001-store-read-2", "b001-store-read-3", "b001-store-memory-read"
    ]  # fmt: skip
    assert {(row.protocol, row.size_bytes, row.position) for row in recorded.of_block(1)} == {("store", 6 * MIB, 0)}
    assert session.settings.made == []


def test_it_is_measured_once_a_block_and_only_on_the_disk(recorded: Recorded) -> None:
    server, sweep = StoreServer(), sweep_of_tools("dd")
    store_ceiling.measure_store(session_of(server), SLOT, sweep, recorded)
    done = len(server.done)
    read = replace(SLOT, case=replace(SLOT.case, direction=Direction.READ))
    shots = store_ceiling.measure_store(session_of(server), read, sweep, recorded)
    assert {shot.direction for shot in shots} == {"read"}
    in_memory = replace(SLOT, case=replace(SLOT.case, store="ram"))
    assert store_ceiling.measure_store(session_of(server), in_memory, sweep, recorded) == []
    assert len(server.done) == done


def test_caches_of_a_server_that_is_not_tuned_are_its_own(recorded: Recorded) -> None:
    server = StoreServer()
    store_ceiling.measure_store(session_of(server, tuned=False), SLOT, sweep_of_tools("dd"), recorded)
    assert "caches dropped" not in server.done
    assert [name for name in ids(recorded) if "read" in name] == ["b001-store-memory-read"]


def test_what_cannot_be_measured_is_a_failed_row_and_what_was_stays(recorded: Recorded) -> None:
    server = StoreServer()
    server.fails_at = "copy-2 flushed"
    session = session_of(server)
    shots = store_ceiling.measure_store(session, SLOT, sweep_of_tools("dd"), recorded)
    assert ids(recorded) == ["b001-store-write"]
    assert len(ids(recorded, "failed")) == 7
    assert {shot.reason for shot in shots[1:]} == {"server: dd: exit code 1: No space left on device"}
    assert session.settings.made == []
    assert store_ceiling.add_ceiling(Observed(), shots).store_ceiling_spread == 0.0


def test_a_folder_that_stays_ends_the_run(recorded: Recorded) -> None:
    session = session_of(StoreServer())
    session.settings.stays = True
    with pytest.raises(RestoreError):
        store_ceiling.measure_store(session, SLOT, sweep_of_tools("dd"), recorded)


@pytest.mark.parametrize("tool", ["dd", "fio", "bonnie++"])
def test_a_disk_without_room_is_not_filled(recorded: Recorded, tool: str) -> None:
    server = StoreServer(free_bytes=5 * MIB)
    store_ceiling.measure_store(session_of(server), SLOT, sweep_of_tools(tool), recorded)
    assert server.done == []
    (reason,) = {row.reason for row in recorded.of_block(1)}
    assert tool in reason
    assert f"{5 * MIB} are free" in reason


def test_bonnie_and_fio_are_rows_of_their_own_with_all_their_numbers(recorded: Recorded) -> None:
    server = StoreServer()
    line = (LINUX_CAPTURES / "bonnie-64M-16.txt").read_text()
    reports = {way: (LINUX_CAPTURES / f"fio-{way}.json").read_text() for way in ("read", "write")}

    def printed(argv: Sequence[str]) -> str:
        ways = [word.removeprefix("--rw=rand") for word in argv if word.startswith("--rw=")]
        return line if argv[0] == "bonnie++" else reports.get("".join(ways), "")

    server.printed = printed
    sweep = sweep_of_tools("fio", "bonnie++", bonnie_size="64 MiB")
    assert store_ceiling.measure_store(session_of(server), SLOT, sweep, recorded) == []
    rows = {row.trial_id: row for row in recorded.of_block(1)}
    assert {name: row.status for name, row in rows.items()} == dict.fromkeys(
        ("b001-store-fio-read", "b001-store-fio-write", "b001-store-bonnie++"), "ok"
    )
    bonnie = rows["b001-store-bonnie++"]
    assert bonnie.size_bytes == 64 * MIB
    assert bonnie.observed.bonnie
    assert bonnie.observed.bonnie.cached
    for way in ("read", "write"):
        row = rows[f"b001-store-fio-{way}"]
        requests = getattr(row.observed.requests, way)
        assert row.size_bytes == requests.bytes == json.loads(reports[way])["jobs"][0][way]["io_bytes"]
    assert server.done == ["noise flushed", "--rw=randread", "--rw=randwrite", "bonnie++"]


@pytest.mark.parametrize("tool", ["fio", "bonnie++"])
def test_a_report_that_cannot_be_true_fails_its_row_alone(recorded: Recorded, tool: str) -> None:
    server = StoreServer()
    more = {"bonnie_size": "1 GiB"} if tool == "bonnie++" else {}
    store_ceiling.measure_store(session_of(server), SLOT, sweep_of_tools("dd", tool, **more), recorded)
    assert len(ids(recorded)) == 8
    assert {row.tool for row in recorded.of_block(1) if row.status == "failed"} == {tool}
    assert all("cannot be true" in row.reason for row in recorded.of_block(1) if row.status == "failed")


def test_the_median_of_the_shots_is_the_ceiling_with_what_the_disks_moved_in_it() -> None:
    shots = [
        trial(protocol="store", size_bytes=1000, elapsed_s=elapsed_s,
              observed={"server": {"disk_written_bytes": round(1e4 * elapsed_s), "disk_read_bytes": 7}})
        for elapsed_s in (0.5, 0.4, 2.0)
    ]  # fmt: skip
    assert store_ceiling.add_ceiling(Observed(), shots) == Observed(
        store_ceiling_bytes_per_s=2000, store_ceiling_spread=1.0, store_ceiling_size_bytes=1000,
        store_ceiling_disk_bytes=5000,
    )  # fmt: skip
    bare = [trial(protocol="store", size_bytes=1000, elapsed_s=0.5)]
    assert store_ceiling.add_ceiling(Observed(), bare).store_ceiling_disk_bytes is None
    failed = [trial(protocol="store", status="failed")]
    assert store_ceiling.add_ceiling(Observed(), failed) == store_ceiling.add_ceiling(Observed(), []) == Observed()
