"""Running a sweep: every slot once and in order, and resuming repeats nothing."""

import json
from types import SimpleNamespace

import pytest
from support.memory_host import untouched
from support.runner_bench import RATES, SMALL, Bench, measured
from support.sweeps import sweep_of

from lab.base.errors import BadInput, Interrupted, TransferError
from lab.design.plan import plan
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from lab.run import runner as runner_module
from lab.run.begin.look import plan_of
from lab.run.case.catalogue import CATALOGUE
from lab.run.runner import check_recorded
from lab.run.transfer.result import TransferResult
from lab.settings.layers import Layers


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


def test_watchers_know_the_rates_of_the_case_so_far_and_what_its_network_carries(bench: Bench) -> None:
    bench.outcome = lambda trial_id: measured("cached" if trial_id.startswith("b002") else "")
    bench.runner(sweep_of(blocks=3, protocol=["smb"], tool=["cp"], direction=["write"])).run()
    rate = 2**20 / 0.5
    expected: list[tuple[float, ...]] = [(), (rate,), (rate,), (rate,), (rate,), (rate, rate)]  # one of them was void
    assert [step.rates for step in bench.seen] == expected
    ceilings = [step.ceiling_bytes_per_s for step in bench.seen]
    assert ceilings == [None, 100e6] * 3  # each block measures its own


def test_watchers_hear_of_each_trial_before_and_after_it(bench: Bench) -> None:
    bench.runner(SMALL).run()
    assert [step.trial is None for step in bench.seen] == [True, False] * 16
    assert [step.done for step in bench.seen] == [number // 2 for number in range(1, 33)]
    assert {step.total for step in bench.seen} == {16}
    assert all(step.trial is None or step.trial.trial_id == step.slot.trial_id for step in bench.seen)


def test_resuming_repeats_nothing_and_measures_no_ceiling_again(bench: Bench) -> None:
    def stop(trial_id: str) -> TransferResult:
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

    def outcome(_: str) -> TransferResult:
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


def test_a_folder_that_holds_another_order_is_refused(bench: Bench) -> None:
    anchored = SMALL.model_copy(update={"anchors": 2})
    bench.runner(anchored).run()
    folder = RunFolder(bench.folder.path)
    check_recorded(folder, anchored, plan_of(folder, anchored))
    said = r"trials.jsonl: b001-[a0-9]+ is of .*, and this lab would run (nothing|.+-mtu[0-9]+-.+) there: go on with"
    for changes in ({"seed": 5}, {"anchors": 3}, {"anchors": 0}, {"blocks": 1, "anchors": 1}):
        changed = anchored.model_copy(update=changes)
        with pytest.raises(BadInput, match=said):
            check_recorded(folder, changed, plan_of(folder, changed))
