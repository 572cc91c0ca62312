"""A store measured by itself: in which order, what if that fails, what trials get; each level of a made store."""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.pairs import hosts_model
from support.parts import case_of
from support.paths import LINUX_CAPTURES
from support.store_server import GIB, MIB, StoreServer, session_of
from support.sweeps import sweep_with
from support.synthetic_runs import trial

from lab.base.errors import BadInput, RestoreError
from lab.base.present import present
from lab.design.blocks import Slot, block_slots
from lab.design.factors import Direction
from lab.design.grid import grid_of
from lab.design.plan import plan
from lab.design.sweep_file import Sweep
from lab.results.observed import Observed
from lab.results.trial import Trial
from lab.run.begin.compatibility import check_fit
from lab.run.case.catalogue import CATALOGUE
from lab.run.ceilings import store_ceiling, store_tools
from lab.run.transfer.recorded import Recorded

SLOT = Slot(1, 1, case_of(store="disk", size_bytes=6 * MIB))


def sweep_of_tools(*tools: str, **more: Any) -> Sweep:
    return sweep_with(store_tools=list(tools), factors={"store": ["disk"]}, **more)


DD = sweep_of_tools("dd")


def ids(recorded: Recorded, status: str = "ok") -> list[str]:
    return [trial.trial_id for trial in recorded.of_block(1) if trial.status == status]


def test_dd_writes_three_copies_then_memory_then_reads_them_cold_then_from_memory(recorded: Recorded) -> None:
    server = StoreServer()
    session = session_of(server)
    shots = store_ceiling.measure_store(session, SLOT, DD, recorded)
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
    server = StoreServer()
    store_ceiling.measure_store(session_of(server), SLOT, DD, recorded)
    commands = list(server.done)
    read = replace(SLOT, case=replace(SLOT.case, direction=Direction.READ))
    shots = store_ceiling.measure_store(session_of(server), read, DD, recorded)
    assert {shot.direction for shot in shots} == {"read"}
    in_memory = replace(SLOT, case=replace(SLOT.case, store="ram"))
    assert store_ceiling.measure_store(session_of(server), in_memory, DD, recorded) == []
    assert server.done == commands


def test_caches_of_a_server_that_is_not_tuned_are_its_own(recorded: Recorded) -> None:
    server = StoreServer()
    store_ceiling.measure_store(session_of(server, tuned=False), SLOT, DD, recorded)
    assert "caches dropped" not in server.done
    assert [name for name in ids(recorded) if "read" in name] == ["b001-store-memory-read"]


def test_what_cannot_be_measured_is_a_failed_row_and_what_was_stays(recorded: Recorded) -> None:
    server = StoreServer()
    server.fails_at = "copy-2 flushed"
    session = session_of(server)
    shots = store_ceiling.measure_store(session, SLOT, DD, recorded)
    assert (ids(recorded), len(ids(recorded, "failed"))) == (["b001-store-write"], 7)
    assert {shot.reason for shot in shots[1:]} == {"server: dd: exit code 1: No space left on device"}
    assert session.settings.made == []
    assert store_ceiling.add_ceiling(Observed(), shots).store_ceiling_spread == 0.0


def test_a_folder_that_stays_ends_the_run(recorded: Recorded) -> None:
    session = session_of(StoreServer())
    session.settings.stays = True
    with pytest.raises(RestoreError):
        store_ceiling.measure_store(session, SLOT, DD, recorded)


@pytest.mark.parametrize("tool", ["dd", "fio", "bonnie++"])
def test_a_disk_without_room_is_not_filled(recorded: Recorded, tool: str) -> None:
    server = StoreServer(free_bytes=5 * MIB)
    store_ceiling.measure_store(session_of(server), SLOT, sweep_of_tools(tool), recorded)
    (reason,) = {row.reason for row in recorded.of_block(1)}
    assert (server.done, tool in reason, f"{5 * MIB} are free" in reason) == ([], True, True), reason


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
    assert (bonnie.size_bytes, bool(present(bonnie.observed.bonnie).cached)) == (64 * MIB, True)
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
    failed = {(row.tool, "cannot be true" in row.reason) for row in recorded.of_block(1) if row.status == "failed"}
    assert failed == {(tool, True)}


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


# --- a file system that the lab makes


OPTIONS = {"ashift": [9, 12], "raid": ["raidz"]}


def sweep_of(**changes: Any) -> Sweep:
    factors = {"protocol": ["nfs"], "store": ["zfs"], "zfs": OPTIONS}
    return sweep_with(**{"workload": {"size": "8 MiB"}, "factors": factors, **changes})


LOCAL = sweep_of(factors={"protocol": ["local"], "store": ["zfs"], "zfs": OPTIONS})


def slots_of(sweep: Sweep) -> list[Slot]:
    return block_slots(sweep, grid_of(sweep, CATALOGUE)[0], 1)


def measure_first(pool: StoreServer, recorded: Recorded) -> Trial:
    """Measure the first slot of a sweep of stores alone."""
    return store_ceiling.measure_local_store(session_of(pool, pool=True), slots_of(LOCAL)[0], LOCAL, recorded)


def test_each_level_of_its_options_is_a_ceiling_of_its_own(recorded: Recorded) -> None:
    pool, sweep = StoreServer(GIB), sweep_of()
    session = session_of(pool, pool=True)
    for slot in slots_of(sweep):
        shots = store_ceiling.measure_store(session, slot, sweep, recorded)
        ashift = slot.case.option("zfs.ashift")
        assert {(shot.direction, shot.protocol) for shot in shots} == {(slot.case.direction, "store")}
        levels = {(shot.options["zfs.ashift"], shot.effective.to_json()["zfs.ashift"]) for shot in shots}
        assert levels == {(ashift, ashift)}
    assert sorted(name for name in pool.done if name.startswith("made")) == ["made 12", "made 9"]
    assert len(ids(recorded)) == 16
    assert {f"b001-store-zfs-ashift={name}" for name in ("9-raid=raidz-write", "12-raid=raidz-read-3")} <= {
        *ids(recorded)
    }


def test_a_pool_forgets_before_it_is_read_and_its_devices_are_counted(recorded: Recorded) -> None:
    pool = StoreServer(GIB)
    measure_first(pool, recorded)
    at = pool.done.index("forgotten")
    assert pool.done[at + 1] == "caches dropped"
    assert "copy-1 null" not in pool.done[:at]
    observed = {trial.trial_id.partition("raidz-")[2]: trial.observed for trial in recorded.of_block(1)}
    assert (observed["write"].store_written_bytes, observed["write"].store_capacity_bytes) == (12 * MIB, GIB)
    assert observed["read-2"].store_read_bytes == 8 * MIB


@pytest.mark.parametrize(("asked", "status"), [(2, "ok"), (50, "failed")])
def test_what_was_removed_may_be_free_again_only_seconds_later(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, asked: int, status: str
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    pool = StoreServer(GIB)
    pool.free_bytes_in_turn = [MIB] * asked
    measure_first(pool, recorded)
    assert {trial.status for trial in recorded.of_block(1)} == {status}
    assert now[0] == (asked if status == "ok" else store_tools.GIVEN_BACK_S)


def test_what_is_measured_of_a_pool_that_has_lost_a_disk_is_void(recorded: Recorded) -> None:
    pool = StoreServer(GIB)
    pool.fault = "the pool x is DEGRADED"
    measure_first(pool, recorded)
    assert {(trial.status, trial.reason) for trial in recorded.of_block(1)} == {("void", pool.fault)}


def test_a_read_that_no_device_gave_is_void(recorded: Recorded) -> None:
    pool = StoreServer(GIB)
    pool.forgets = False
    measure_first(pool, recorded)
    voids = [trial for trial in recorded.of_block(1) if trial.status == "void"]
    why = f"only 0 of {8 * MIB} bytes were read from the devices of store zfs: its own memory was not cold"
    assert {(trial.tool, trial.direction, trial.reason) for trial in voids} == {("dd", "read", why)}


def test_the_shots_of_dd_are_the_trials_of_stores_alone(recorded: Recorded) -> None:
    slot = slots_of(LOCAL)[1]
    trial = store_ceiling.measure_local_store(session_of(StoreServer(GIB), pool=True), slot, LOCAL, recorded)
    assert (trial.protocol, trial.tool, trial.direction, trial.position) == ("local", "dd", "write", 2)
    protocols = {(trial.tool, trial.protocol) for trial in recorded.of_block(1)}
    assert protocols == {("dd", "local"), ("memory", "store")}


def test_what_is_on_record_is_not_measured_again(recorded: Recorded) -> None:
    pool, first = StoreServer(GIB), slots_of(LOCAL)[0]
    session = session_of(pool, pool=True)
    assert not store_ceiling.is_done(session.pair, first, LOCAL, recorded)
    store_ceiling.measure_local_store(session, first, LOCAL, recorded)
    commands = list(pool.done)
    slots = (first, slots_of(LOCAL)[1], replace(first, block=2))
    assert [store_ceiling.is_done(session.pair, slot, LOCAL, recorded) for slot in slots] == [True, False, False]
    store_ceiling.measure_local_store(session, first, LOCAL, recorded)
    assert pool.done == commands


def test_a_store_that_cannot_be_made_is_failed_trials(recorded: Recorded) -> None:
    pool = StoreServer(GIB)
    pool.can_be_made = False
    trials = [measure_first(pool, recorded), *recorded.of_block(1)]
    assert [(trial.status, trial.reason) for trial in trials] == [("failed", "server: zpool: no room")] * 9


def test_shots_are_as_small_as_the_smallest_store_takes(recorded: Recorded) -> None:
    sweep = sweep_of(workload={"size": "1 GiB"}, factors={"store": ["zfs"], "zfs": {"raid": ["stripe", "mirror"]}})
    for slot in slots_of(sweep):
        store_ceiling.measure_store(session_of(StoreServer(GIB), pool=True), slot, sweep, recorded)
    (size_bytes,) = {trial.size_bytes for trial in recorded.of_block(1)}
    assert size_bytes < 200 * MIB


def test_stores_alone_are_planned_without_a_link_and_both_ways_at_once() -> None:
    planned, shared = plan(LOCAL, CATALOGUE), plan(sweep_of(), CATALOGUE)
    begin = "local-dd-write-zfs-mtu1500-tcpdefault-zfs.ashift"
    assert [case.case_id for case in planned.cases] == [f"{begin}={ashift}-zfs.raid=raidz" for ashift in (9, 12)]
    assert [effect.name for effect in planned.effects] == ["zfs.ashift"]
    assert planned.estimated_s < shared.estimated_s
    without = plan(sweep_of(factors={"protocol": ["nfs"], "store": ["ram"]}), CATALOGUE)
    assert shared.estimated_s - without.estimated_s > 3


def test_levels_that_cannot_go_together_are_left_out_of_stores_alone_too() -> None:
    options = {"raid": ["stripe", "raidz2"], "vdevs": [1, 4]}
    cases, left_out = grid_of(sweep_of(factors={"protocol": ["local"], "store": ["zfs"], "zfs": options}), CATALOGUE)
    assert (len(cases), left_out) == (3, ("zfs with raid raidz2 on vdevs 1: it takes 3 or more",))


@pytest.mark.parametrize(("stores", "says"), [(["ram"], 'has no "disk"'), (["ram", "zfs"], 'has "ram"')])
def test_memory_is_no_store_to_measure(stores: list[str], says: str) -> None:
    sweep = sweep_of(factors={"protocol": ["local"], "store": stores})
    with pytest.raises(BadInput, match=says):
        check_fit(hosts_model(share={"serve": "lab"}), sweep)


def test_an_image_must_hold_what_the_tools_write() -> None:
    sweep = sweep_of(store_tools=["dd", "bonnie++"], bonnie_size="4 GiB")
    with pytest.raises(BadInput, match=r"image_size: .* with a file of bonnie\+\+ of 4294967296 bytes"):
        check_fit(hosts_model(share={"serve": "lab"}), sweep)
