"""Running a sweep: what fails is recorded and passed, what cannot be put back ends it, and resuming repeats nothing."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.memory_host import World, knob, untouched
from support.sides import side_of
from support.sweeps import sweep_of

from lab.base.errors import BadInput, CommandError, HostError, Interrupted, LabFailure, RestoreError, TransferError
from lab.design import stopping
from lab.design.case import Case
from lab.design.plan import plan
from lab.design.sweep_file import Sweep
from lab.platforms import Counters, Timing
from lab.results import run_folder
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder, Trial
from lab.run import runner as runner_module
from lab.run.catalogue import CATALOGUE
from lab.run.runner import Progress, Runner, check_recorded
from lab.run.session import Session
from lab.run.transfer import Measured
from lab.settings.layers import Layers
from lab.stats import wide_effects
from lab.workloads import iperf3

RATES = {"write": 100e6, "read": 50e6}


def measured(void: str = "") -> Measured:
    counted = Counters(1_100_000, 12_345, 0.25, 3, {"mtu": "1500"})
    server = Counters(12_345, 1_100_000, None, 4, {"mtu": "1500"})
    timing = Timing(0.5, counted, "monotonic", "fsync", 0.1)
    return Measured(
        timing, server, Effective(mount="gvfs"), void, Observed(remarks=("odd",)), {"client": {"at_s": [0.0]}}
    )


class Bench:
    """A runner over two hosts in memory, where transfers and iperf3 are what a test says."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch):
        self.world = World(folder)
        self.folder = RunFolder.create(folder / "results", "try", {})
        self.transfers: list[str] = []
        self.ceilings: list[tuple[str, int]] = []
        self.outcome: Callable[[str], Measured] = lambda _: measured()
        self.link: Callable[[str], dict[str, float]] = lambda direction: {
            "bytes": RATES[direction], "elapsed_s": 1.0, "bytes_per_s": RATES[direction], "retransmits": 2
        }  # fmt: skip
        self.seen: list[Progress] = []
        self.session: Any = SimpleNamespace(
            pair=SimpleNamespace(
                hosts=self.world.hosts,
                sides={"server": side_of(self.world.hosts["server"], "linux", "192.0.2.2", "/lab", "me")},
            ),
            settings=self.world.settings,
            layers=Layers(self.world.settings),
            stand_on_network=self.stand_on_network,
            recover=lambda: self.session.layers.step_down(0),
        )
        patch.setattr(runner_module, "transfer", self.transfer)
        patch.setattr(iperf3, "server", lambda *_: knob("server", "mount", "iperf3 runs"))
        patch.setattr(iperf3, "measure", self.measure)

    def stand_on_network(self, case: Case) -> None:
        layer = ("mtu", case.mtu), lambda: self.world.settings.apply(knob("server", "mtu", str(case.mtu)))
        self.session.layers.move([layer])

    def transfer(self, session: Any, case: Case, trial_id: str, deadline_s: float) -> Measured:
        assert deadline_s == runner_module.SLACK_S + case.size_bytes / SMALL.slowest
        assert self.world.hosts["server"].values["mount"] == "absent", "iperf3 must not run during a transfer"
        self.transfers.append(trial_id)
        return self.outcome(trial_id)

    def measure(self, client: Any, address: str, direction: str, seconds: float) -> dict[str, float]:
        assert self.world.hosts["server"].values["mount"] == "iperf3 runs"
        self.ceilings.append((direction, int(self.world.hosts["server"].values["mtu"])))
        return self.link(direction)

    def runner(self, sweep: Sweep) -> Runner:
        return Runner(cast(Session, self.session), RunFolder(self.folder.path), sweep, self.seen.append)

    def trials(self) -> dict[str, Trial]:
        return {trial.trial_id: trial for trial in RunFolder(self.folder.path).trials()}

    def transferred(self) -> dict[str, Trial]:
        return {name: trial for name, trial in self.trials().items() if trial.protocol != "link"}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


SMALL = sweep_of(blocks=2, mtu=[1500, 9000], protocol=["smb", "nfs"])


def test_every_slot_is_run_once_in_order_and_recorded_as_it_was(bench: Bench) -> None:
    ending = bench.runner(SMALL).run()
    slots = plan(SMALL, CATALOGUE).slots
    assert (ending.early, ending.not_ok) == ("", 0)
    assert bench.transfers == [slot.trial_id for slot in slots]
    found = bench.transferred()
    for slot in slots:
        trial = found[slot.trial_id]
        assert (trial.block, trial.position, trial.case_id) == (slot.block, slot.position, slot.case.case_id)
        assert (trial.protocol, trial.mtu, trial.direction) == (slot.case.protocol, slot.case.mtu, slot.case.direction)
        assert (trial.status, trial.reason, trial.verified, trial.files) == ("ok", "", True, 1)
        assert (trial.elapsed_s, trial.client_cpu_s, trial.server_cpu_s) == (0.5, 0.25, None)
        assert (trial.wire_tx_bytes, trial.wire_rx_bytes, trial.retransmits) == (1_100_000, 12_345, 7)
        assert trial.ceiling_bytes_per_s == RATES[slot.case.direction]
        assert trial.effective == Effective(mount="gvfs")
        assert trial.observed == Observed(remarks=("odd",))
    samples = [json.loads(line) for line in bench.folder.samples_path.read_text().splitlines()]
    assert samples == [{"trial_id": slot.trial_id, "client": {"at_s": [0.0]}} for slot in slots]


def test_ceilings_are_measured_once_a_block_and_network_in_both_directions(bench: Bench) -> None:
    bench.runner(SMALL).run()
    assert sorted(bench.ceilings) == sorted([("write", 1500), ("read", 1500), ("write", 9000), ("read", 9000)] * 2)
    links = [trial for trial in bench.trials().values() if trial.protocol == "link"]
    assert len(links) == 8
    for trial in links:
        assert (trial.tool, trial.workload, trial.position, trial.files) == ("iperf3", "stream", 0, 0)
        assert trial.size_bytes == RATES[trial.direction]
        assert (trial.elapsed_s, trial.retransmits, trial.status) == (1.0, 2, "ok")
    assert bench.world.hosts["server"].values["mount"] == "absent"


def test_watchers_hear_of_each_trial_before_and_after_it(bench: Bench) -> None:
    bench.runner(SMALL).run()
    assert [step.trial is None for step in bench.seen] == [True, False] * 16
    assert [step.done for step in bench.seen] == [number // 2 for number in range(1, 33)]
    assert {step.total for step in bench.seen} == {16}
    assert all(step.trial is None or step.trial.trial_id == step.slot.trial_id for step in bench.seen)


FAILURES = [
    TransferError("client: cp: exit code 1: No space left"),
    HostError("client: the connection was lost"),
    CommandError("server", ("smbd",), 1, "it broke"),
    LabFailure("any"),
]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_a_failed_trial_is_recorded_and_the_sweep_goes_on_from_scratch(bench: Bench, error: LabFailure) -> None:
    def outcome(trial_id: str) -> Measured:
        if trial_id == "b001-0003":
            bench.world.settings.apply(knob("client", "space", "left standing"))
            raise error
        assert bench.world.hosts["client"].values["space"] == "131072"
        return measured()

    bench.outcome = outcome
    ending = bench.runner(SMALL).run()
    assert (ending.early, ending.not_ok, len(bench.transfers)) == ("", 1, 16)
    trial = bench.trials()["b001-0003"]
    assert (trial.status, trial.reason, trial.verified) == ("failed", str(error), False)
    assert (trial.elapsed_s, trial.wire_tx_bytes, trial.retransmits, trial.effective) == (None, None, None, Effective())
    assert trial.ceiling_bytes_per_s == RATES[trial.direction]


def test_a_void_trial_keeps_its_numbers_and_its_reason(bench: Bench) -> None:
    bench.outcome = lambda trial_id: measured("cached" if trial_id == "b002-0001" else "")
    assert bench.runner(SMALL).run().not_ok == 1
    trial = bench.trials()["b002-0001"]
    assert (trial.status, trial.reason, trial.elapsed_s, trial.verified) == ("void", "cached", 0.5, True)


def test_a_network_that_cannot_be_set_fails_its_trials_and_no_others(bench: Bench) -> None:
    stand = bench.session.stand_on_network

    def stand_on_network(case: Case) -> None:
        if case.mtu == 9000:
            raise LabFailure("packets of MTU 9000 do not reach the server")
        stand(case)

    bench.session.stand_on_network = stand_on_network
    assert bench.runner(SMALL).run().not_ok == 8
    for trial in bench.transferred().values():
        assert (trial.status == "failed") == (trial.mtu == 9000)
        assert (trial.ceiling_bytes_per_s is None) == (trial.mtu == 9000)


def test_a_ceiling_that_cannot_be_measured_is_recorded_and_the_trials_are_run(bench: Bench) -> None:
    def link(direction: str) -> dict[str, float]:
        raise LabFailure("iperf3: unable to connect")

    bench.link = link
    assert bench.runner(SMALL).run().not_ok == 8
    assert {trial.status for trial in bench.transferred().values()} == {"ok"}
    assert {trial.ceiling_bytes_per_s for trial in bench.transferred().values()} == {None}
    links = [trial for trial in bench.trials().values() if trial.protocol == "link"]
    assert {(trial.status, trial.reason, trial.size_bytes) for trial in links} == {
        ("failed", "iperf3: unable to connect", 0)
    }


@pytest.mark.parametrize(
    "error", [RestoreError(["MTU should be 1500"]), Interrupted("stopped by SIGINT"), KeyError("x")]
)
def test_some_errors_end_a_sweep_and_what_was_measured_is_kept(bench: Bench, error: Exception) -> None:
    def outcome(trial_id: str) -> Measured:
        if trial_id == "b001-0004":
            raise error
        return measured()

    bench.outcome = outcome
    with pytest.raises(type(error)):
        bench.runner(SMALL).run()
    assert list(bench.transferred()) == ["b001-0001", "b001-0002", "b001-0003"]


def test_a_failed_trial_whose_settings_stay_changed_ends_the_sweep(bench: Bench) -> None:
    def outcome(_: str) -> Measured:
        bench.world.settings.apply(knob("client", "space", "stuck"))
        bench.world.hosts["client"].stuck_keys.add("space")
        raise TransferError("broken")

    bench.outcome = outcome
    with pytest.raises(RestoreError, match="knob space should be '131072' and is 'stuck'"):
        bench.runner(SMALL).run()
    assert len(bench.transfers) == 1


def test_resuming_repeats_nothing_and_measures_no_ceiling_again(bench: Bench) -> None:
    def stop(trial_id: str) -> Measured:
        if trial_id == "b001-0006":
            raise Interrupted("stopped by SIGTERM")
        if trial_id == "b001-0002":
            raise TransferError("broken")
        return measured()

    bench.outcome = stop
    with pytest.raises(Interrupted):
        bench.runner(SMALL).run()
    bench.world.settings.unwind()
    before, ceilings = bench.trials(), len(bench.ceilings)
    assert ceilings == 4  # both networks of the first block
    bench.transfers.clear()
    bench.seen.clear()
    bench.session.layers = Layers(bench.world.settings)
    bench.outcome = lambda _: measured()
    ending = bench.runner(SMALL).run()
    assert (ending.early, ending.not_ok) == ("", 0)
    assert bench.transfers == [slot.trial_id for slot in plan(SMALL, CATALOGUE).slots][5:]
    assert len(bench.ceilings) == 8
    assert bench.seen[0].done == 5
    after = bench.trials()
    assert {name: after[name] for name in before} == before
    assert len(bench.transferred()) == 16
    assert {trial.ceiling_bytes_per_s for trial in bench.transferred().values()} == set(RATES.values())
    bench.transfers.clear()
    assert bench.runner(SMALL).run().early == ""
    assert bench.transfers == []


def test_a_run_that_was_torn_between_two_ceilings_measures_only_the_other(bench: Bench) -> None:
    real = bench.link

    def link(direction: str) -> dict[str, float]:
        if len(bench.ceilings) > 1:
            raise Interrupted("stopped by SIGINT")
        return real(direction)

    bench.link = link
    with pytest.raises(Interrupted):
        bench.runner(SMALL).run()
    assert bench.world.hosts["server"].values["mount"] == "absent"
    bench.link = real
    bench.ceilings.clear()
    bench.runner(SMALL).run()
    assert len(bench.ceilings) == 7


def test_the_time_cap_ends_a_sweep_between_two_trials(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(runner_module, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def outcome(_: str) -> Measured:
        clock[0] += 10
        return measured()

    bench.outcome = outcome
    capped = SMALL.model_copy(update={"time_cap": 25.0})
    ending = bench.runner(capped).run()
    assert len(bench.transfers) == 3
    assert ending.early == "the time cap of 25 s was reached after 3 of 16 trials"
    ending = bench.runner(capped).run()  # a resumed run has the whole time again
    assert "after 6 of 16 trials" in ending.early


def test_a_host_is_left_as_it_was_in_the_end(bench: Bench) -> None:
    bench.runner(SMALL).run()
    bench.world.settings.unwind()
    assert bench.world.state() == untouched()


# --- anchors, and stopping at a precision

PRECISE = sweep_of(blocks=10, mtu=[1500, 9000]).model_copy(update={"precision": 0.03, "max_blocks": 40})


def noisy(spread: float) -> Callable[[str], Measured]:
    """Transfers whose time depends on nothing but their name, with a standard deviation of its logarithm."""

    def outcome(trial_id: str) -> Measured:
        timing = replace(measured().timing, elapsed_s=0.5 * math.exp(random.Random(trial_id).gauss(0, spread)))
        return replace(measured(), timing=timing)

    return outcome


def looks(bench: Bench, sweep: Sweep, blocks: int) -> list[list[str]]:
    """What is too wide after 1, 2, … so many blocks, from the run folder."""
    trials = run_folder.load(bench.folder.path)
    names = [effect.name for effect in plan(sweep, CATALOGUE).effects]
    assert sweep.precision
    return [wide_effects(trials[trials["block"] <= n], names, sweep.precision) for n in range(1, blocks + 1)]


def last_block(bench: Bench) -> int:
    return max(trial.block for trial in bench.transferred().values())


def test_anchors_are_run_in_their_places_and_recorded_as_such(bench: Bench) -> None:
    anchored = SMALL.model_copy(update={"anchors": 3})
    bench.runner(anchored).run()
    slots = plan(anchored, CATALOGUE).slots
    assert bench.transfers == [slot.trial_id for slot in slots]
    found = bench.transferred()
    assert [trial_id for trial_id, trial in found.items() if trial.anchor] == [
        slot.trial_id for slot in slots if slot.anchor
    ]
    anchors = [trial for trial in found.values() if trial.anchor]
    assert len(anchors) == 6
    assert {trial.case_id for trial in anchors} == {plan(anchored, CATALOGUE).cases[0].case_id}
    assert len(bench.ceilings) == 8  # an anchor stands on a network of its block, whose ceiling is known
    bench.transfers.clear()
    bench.runner(anchored).run()
    assert bench.transfers == []


def test_a_run_goes_on_until_it_is_precise_and_no_longer(bench: Bench) -> None:
    bench.outcome = noisy(0.04)
    ending = bench.runner(PRECISE).run()
    blocks = last_block(bench)
    assert (ending.early, ending.imprecise, ending.text) == ("", "", "complete")
    assert stopping.LEAST_BLOCKS < blocks < 40
    narrow = [not wide for wide in looks(bench, PRECISE, blocks)]
    stops = [n for n in range(10, blocks + 1) if stopping.enough(n, narrow[max(0, n - stopping.LOOKS) : n])]
    assert stops == [blocks]
    assert len(bench.transferred()) == 4 * blocks


def test_a_run_without_noise_ends_after_its_least_blocks(bench: Bench) -> None:
    bench.runner(PRECISE).run()
    assert last_block(bench) == 10


def test_a_resumed_run_stops_where_it_would_have_stopped(bench: Bench, tmp_path: Path) -> None:
    bench.outcome = noisy(0.04)
    bench.runner(PRECISE).run()
    bench.world.settings.unwind()
    whole = {trial_id: trial.elapsed_s for trial_id, trial in bench.transferred().items()}
    bench.folder = RunFolder.create(tmp_path / "results", "again", {})
    for stop_at in ("b003-0002", "b011-0003", "b012-0001"):

        def outcome(trial_id: str, stop_at: str = stop_at) -> Measured:
            if trial_id == stop_at:
                raise Interrupted("stopped by SIGINT")
            return noisy(0.04)(trial_id)

        bench.outcome = outcome
        with pytest.raises(Interrupted):
            bench.runner(PRECISE).run()
        bench.world.settings.unwind()
        bench.session.layers = Layers(bench.world.settings)
    bench.outcome = noisy(0.04)
    assert bench.runner(PRECISE).run().text == "complete"
    assert {trial_id: trial.elapsed_s for trial_id, trial in bench.transferred().items()} == whole
    bench.transfers.clear()
    assert bench.runner(PRECISE).run().text == "complete"
    assert bench.transfers == []


def test_a_precision_that_is_not_reached_is_said_with_every_width(bench: Bench) -> None:
    bench.outcome = noisy(0.2)
    hasty = PRECISE.model_copy(update={"max_blocks": 11, "effects": ("mtu", "direction:mtu")})
    ending = bench.runner(hasty).run()
    assert (last_block(bench), ending.early) == (11, "")
    wide = r"MTU 1500 → 9000, SMB cp write: ±[0-9.]+ %; .*; direction write → read with MTU 1500 → 9000, SMB cp: ±.*"
    said = f"the precision of ± 3 % was not reached in 11 blocks: {wide}"
    assert re.fullmatch(said, ending.imprecise)
    assert ending.text == ending.imprecise
    bench.transfers.clear()
    assert bench.runner(hasty).run() == ending
    assert bench.transfers == []


def test_a_cap_ends_a_run_that_is_not_precise_and_both_are_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(runner_module, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def outcome(trial_id: str) -> Measured:
        clock[0] += 10
        return noisy(0.2)(trial_id)

    bench.outcome = outcome
    ending = bench.runner(PRECISE.model_copy(update={"time_cap": 495.0})).run()
    assert ending.early == "the time cap of 495 s was reached after 50 of 40 to 160 trials"
    assert ending.imprecise.startswith("the precision of ± 3 % was not reached in 12 blocks: MTU 1500 → 9000, SMB ")
    assert ending.text == f"{ending.early}; {ending.imprecise}"


def test_a_watcher_knows_how_many_blocks_there_may_be(bench: Bench) -> None:
    bench.outcome = noisy(0.04)
    bench.runner(PRECISE).run()
    assert {(step.least_blocks, step.most_blocks) for step in bench.seen} == {(10, 40)}
    assert all(step.total == 4 * max(10, step.slot.block) for step in bench.seen)
    assert bench.seen[-1].done == bench.seen[-1].total


def test_a_folder_that_holds_another_order_is_refused(bench: Bench) -> None:
    anchored = SMALL.model_copy(update={"anchors": 2})
    bench.runner(anchored).run()
    check_recorded(RunFolder(bench.folder.path), anchored)
    said = r"trials.jsonl: b001-[a0-9]+ is of .*, and this lab would run (nothing|.+-mtu[0-9]+-.+) there: go on with"
    for changes in ({"seed": 5}, {"anchors": 3}, {"anchors": 0}, {"blocks": 1, "anchors": 1}):
        with pytest.raises(BadInput, match=said):
            check_recorded(RunFolder(bench.folder.path), anchored.model_copy(update=changes))
