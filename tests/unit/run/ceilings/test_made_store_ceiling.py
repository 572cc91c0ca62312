"""A file system that the lab makes, measured by itself: once a block for each level of its options, and cold."""

import time
from dataclasses import replace
from typing import Any

import pytest
from support.pairs import hosts_model
from support.store_server import GIB, MIB, StoreServer, session_of
from support.sweeps import sweep_with

from lab.base.errors import BadInput
from lab.design.blocks import Slot, block_slots
from lab.design.grid import grid_of
from lab.design.plan import plan
from lab.design.sweep_file import Sweep
from lab.results.trial import Trial
from lab.run.begin.compatibility import check_fit
from lab.run.case.catalogue import CATALOGUE
from lab.run.ceilings import store_ceiling, store_tools
from lab.run.transfer.recorded import Recorded

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
        assert {shot.options["zfs.ashift"] for shot in shots} == {ashift}
        assert {(shot.direction, shot.protocol) for shot in shots} == {(slot.case.direction, "store")}
        assert {shot.effective.to_json()["zfs.ashift"] for shot in shots} == {ashift}
    assert [name for name in pool.done if name.startswith("made")] in (["made 9", "made 12"], ["made 12", "made 9"])
    ids = {trial.trial_id for trial in recorded.of_block(1)}
    assert len(ids) == 16
    assert {"b001-store-zfs-ashift=9-raid=raidz-write", "b001-store-zfs-ashift=12-raid=raidz-read-3"} <= ids


def test_a_pool_forgets_before_it_is_read_and_its_devices_are_counted(recorded: Recorded) -> None:
    pool = StoreServer(GIB)
    measure_first(pool, recorded)
    at = pool.done.index("forgotten")
    assert pool.done[at + 1] == "caches dropped"
    assert "copy-1 null" not in pool.done[:at]
    trials = {trial.trial_id.partition("raidz-")[2]: trial for trial in recorded.of_block(1)}
    assert trials["write"].observed.store_written_bytes == 12 * MIB
    assert trials["write"].observed.store_capacity_bytes == GIB
    assert trials["read-2"].observed.store_read_bytes == 8 * MIB


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
    assert {(trial.tool, trial.direction) for trial in voids} == {("dd", "read")}
    assert {trial.reason for trial in voids} == {
        f"only 0 of {8 * MIB} bytes were read from the devices of store zfs: its own memory was not cold"
    }


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
    done = len(pool.done)
    assert store_ceiling.is_done(session.pair, first, LOCAL, recorded)
    assert not store_ceiling.is_done(session.pair, slots_of(LOCAL)[1], LOCAL, recorded)
    assert not store_ceiling.is_done(session.pair, replace(first, block=2), LOCAL, recorded)
    store_ceiling.measure_local_store(session, first, LOCAL, recorded)
    assert len(pool.done) == done


def test_a_store_that_cannot_be_made_is_failed_trials(recorded: Recorded) -> None:
    pool = StoreServer(GIB)
    pool.can_be_made = False
    trial = measure_first(pool, recorded)
    assert (trial.status, trial.reason) == ("failed", "server: zpool: no room")
    assert {(trial.status, trial.reason) for trial in recorded.of_block(1)} == {("failed", "server: zpool: no room")}
    assert len(recorded.of_block(1)) == 8


def test_shots_are_as_small_as_the_smallest_store_takes(recorded: Recorded) -> None:
    sweep = sweep_of(workload={"size": "1 GiB"}, factors={"store": ["zfs"], "zfs": {"raid": ["stripe", "mirror"]}})
    sizes = set()
    for slot in slots_of(sweep):
        store_ceiling.measure_store(session_of(StoreServer(GIB), pool=True), slot, sweep, recorded)
        sizes |= {trial.size_bytes for trial in recorded.of_block(1)}
    assert len(sizes) == 1
    assert sizes.pop() < 200 * MIB


def test_stores_alone_are_planned_without_a_link_and_both_ways_at_once() -> None:
    planned, shared = plan(LOCAL, CATALOGUE), plan(sweep_of(), CATALOGUE)
    assert [case.case_id for case in planned.cases] == [
        f"local-dd-write-zfs-mtu1500-tcpdefault-zfs.ashift={ashift}-zfs.raid=raidz" for ashift in (9, 12)
    ]
    assert [effect.name for effect in planned.effects] == ["zfs.ashift"]
    assert planned.estimated_s < shared.estimated_s
    without = plan(sweep_of(factors={"protocol": ["nfs"], "store": ["ram"]}), CATALOGUE)
    assert shared.estimated_s - without.estimated_s > 3


def test_levels_that_cannot_go_together_are_left_out_of_stores_alone_too() -> None:
    options = {"raid": ["stripe", "raidz2"], "vdevs": [1, 4]}
    cases, left_out = grid_of(sweep_of(factors={"protocol": ["local"], "store": ["zfs"], "zfs": options}), CATALOGUE)
    assert len(cases) == 3
    assert left_out == ("zfs with raid raidz2 on vdevs 1: it takes 3 or more",)


@pytest.mark.parametrize(("stores", "says"), [(["ram"], 'has no "disk"'), (["ram", "zfs"], 'has "ram"')])
def test_memory_is_no_store_to_measure(stores: list[str], says: str) -> None:
    sweep = sweep_of(factors={"protocol": ["local"], "store": stores})
    with pytest.raises(BadInput, match=says):
        check_fit(hosts_model(share={"serve": "lab"}), sweep)


def test_an_image_must_hold_what_the_tools_write() -> None:
    sweep = sweep_of(store_tools=["dd", "bonnie++"], bonnie_size="4 GiB")
    with pytest.raises(BadInput, match=r"image_size: .* with a file of bonnie\+\+ of 4294967296 bytes"):
        check_fit(hosts_model(share={"serve": "lab"}), sweep)
