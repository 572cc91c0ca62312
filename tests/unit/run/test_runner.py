"""Running a sweep: every slot once and in order; resuming repeats nothing; failures are recorded and passed."""

import json
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from support.memory_host import knob, untouched
from support.runner_bench import RATES, SMALL, RunBench, measured
from support.sweeps import sweep_of

from lab.base.errors import BadInput, CommandError, HostError, Interrupted, LabFailure, RestoreError, TransferError
from lab.design.case import Case
from lab.design.plan import plan
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from lab.run import runner as runner_module
from lab.run.begin.look import plan_of
from lab.run.case.catalogue import CATALOGUE
from lab.run.transfer.recorded import check_recorded
from lab.run.transfer.result import TransferResult


def test_every_slot_is_run_once_in_order_and_recorded_as_it_was(bench: RunBench) -> None:
    ending, slots = bench.run(SMALL), plan(SMALL, CATALOGUE).slots
    assert (ending.early, ending.not_ok, bench.transfers) == ("", 0, [slot.trial_id for slot in slots])
    trials = bench.transferred()
    bench.world.settings.unwind()
    assert bench.world.state() == untouched()
    for slot in slots:
        trial, case = trials[slot.trial_id], slot.case
        assert (trial.block, trial.position, trial.case_id) == (slot.block, slot.position, case.case_id)
        assert (trial.protocol, trial.mtu, trial.direction) == (case.protocol, case.mtu, case.direction)
        assert (trial.status, trial.reason, trial.verified, trial.files) == ("ok", "", True, 1)
        assert (trial.elapsed_s, trial.client_cpu_s, trial.server_cpu_s) == (0.5, 0.25, None)
        assert (trial.wire_tx_bytes, trial.wire_rx_bytes, trial.retransmits) == (1_100_000, 12_345, 7)
        assert trial.ceiling_bytes_per_s == RATES[case.direction]
        assert (trial.effective, trial.observed) == (Effective(mount="gvfs"), Observed(remarks=("odd",)))
    samples = [json.loads(line) for line in bench.folder.samples_path.read_text().splitlines()]
    assert samples == [{"trial_id": slot.trial_id, "client": {"at_s": [0.0]}} for slot in slots]


def test_ceilings_are_measured_once_a_block_and_network_in_both_directions(bench: RunBench) -> None:
    bench.run(SMALL)
    assert sorted(bench.ceilings) == sorted([("write", 1500), ("read", 1500), ("write", 9000), ("read", 9000)] * 2)
    links = [trial for trial in bench.trials().values() if trial.protocol == "link"]
    assert len(links) == 8
    for trial in links:
        assert (trial.tool, trial.workload, trial.position, trial.files) == ("iperf3", "stream", 0, 0)
        measured_as = trial.size_bytes, trial.elapsed_s, trial.retransmits, trial.status
        assert measured_as == (RATES[trial.direction], 1.0, 2, "ok")
    assert bench.world.hosts["server"].values["mount"] == "absent"


def test_watchers_know_the_rates_of_the_case_so_far_and_what_its_network_carries(bench: RunBench) -> None:
    bench.outcome = lambda trial_id: measured("cached" if trial_id.startswith("b002") else "")
    bench.run(sweep_of(blocks=3, protocol=["smb"], tool=["cp"], direction=["write"]))
    rate = 2**20 / 0.5
    # one of them was void; each block measures its own ceiling
    assert [step.rates for step in bench.reports] == [(), (rate,), (rate,), (rate,), (rate,), (rate, rate)]
    assert [step.ceiling_bytes_per_s for step in bench.reports] == [None, 100e6] * 3


def test_watchers_hear_of_each_trial_before_and_after_it(bench: RunBench) -> None:
    bench.run(SMALL)
    steps = [(step.trial is None, step.done, step.total) for step in bench.reports]
    assert steps == [(number % 2 == 1, number // 2, 16) for number in range(1, 33)]
    assert all(step.trial is None or step.trial.trial_id == step.slot.trial_id for step in bench.reports)


def test_resuming_repeats_nothing_and_measures_no_ceiling_again(bench: RunBench) -> None:
    outcomes = [measured(), TransferError("broken"), measured(), measured(), measured(), Interrupted("by SIGTERM")]
    bench.outcome = Mock(side_effect=outcomes)
    bench.tear(SMALL)
    before = bench.trials()
    assert len(bench.ceilings) == 4  # both networks of the first block
    bench.reports.clear()
    bench.outcome = lambda _: measured()
    ending = bench.run(SMALL)
    assert (ending.early, ending.not_ok, ending.to_retry) == ("", 1, 1), "a failed trial of the first part counts"
    assert (len(bench.ceilings), bench.reports[0].done) == (8, 5)
    assert bench.transfers == [slot.trial_id for slot in plan(SMALL, CATALOGUE).slots][5:]
    after = bench.trials()
    assert {name: after[name] for name in before} == before
    assert (len(bench.transferred()), bench.ceilings_of_trials()) == (16, set(RATES.values()))
    assert bench.run_again(SMALL).early == ""


def test_a_run_that_was_torn_between_two_ceilings_measures_only_the_other(bench: RunBench) -> None:
    real = bench.link
    bench.link = Mock(side_effect=[real("write"), Interrupted("stopped by SIGINT")])
    with pytest.raises(Interrupted):
        bench.run(SMALL)
    assert bench.world.hosts["server"].values["mount"] == "absent"
    bench.link = real
    bench.ceilings.clear()
    bench.run(SMALL)
    assert len(bench.ceilings) == 7


def test_the_time_cap_ends_a_sweep_between_two_trials(bench: RunBench, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(runner_module, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def outcome(_: str) -> TransferResult:
        clock[0] += 10
        return measured()

    bench.outcome = outcome
    capped = SMALL.model_copy(update={"time_cap": 25.0})
    assert bench.run(capped).early == "the time cap of 25 s was reached after 3 of 16 trials"
    assert len(bench.transfers) == 3
    assert "after 6 of 16 trials" in bench.run(capped).early  # a resumed run has the whole time again


def test_anchors_are_run_in_their_places_and_recorded_as_such(bench: RunBench) -> None:
    anchored = SMALL.model_copy(update={"anchors": 3})
    bench.run(anchored)
    slots = plan(anchored, CATALOGUE).slots
    assert bench.transfers == [slot.trial_id for slot in slots]
    anchors = {name: trial.case_id for name, trial in bench.transferred().items() if trial.anchor}
    assert list(anchors) == [slot.trial_id for slot in slots if slot.anchor]
    assert set(anchors.values()) == {plan(anchored, CATALOGUE).cases[0].case_id}
    assert (len(anchors), len(bench.ceilings)) == (6, 8)  # an anchor's network is in its block, with a known ceiling
    bench.run_again(anchored)


def test_a_folder_that_holds_another_order_is_refused(bench: RunBench) -> None:
    anchored = SMALL.model_copy(update={"anchors": 2})
    bench.run(anchored)
    folder = RunFolder(bench.folder.path)
    check_recorded(folder, anchored, plan_of(folder, anchored))
    message = r"trials.jsonl: b001-[a0-9]+ is of .*, and this lab would run (nothing|.+-mtu[0-9]+-.+) there: go on with"
    for changes in ({"seed": 5}, {"anchors": 3}, {"anchors": 0}, {"blocks": 1, "anchors": 1}):
        changed = anchored.model_copy(update=changes)
        with pytest.raises(BadInput, match=message):
            check_recorded(folder, changed, plan_of(folder, changed))


# --- failures


BROKEN = CommandError("server", ("smbd",), 1, "it broke")
FAILURES = [TransferError("client: cp: exit code 1"), HostError("client: it was lost"), BROKEN, LabFailure("any")]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_a_failed_trial_is_recorded_and_the_sweep_goes_on_from_scratch(bench: RunBench, error: LabFailure) -> None:
    def outcome(trial_id: str) -> TransferResult:
        if trial_id == "b001-0003":
            bench.world.settings.apply(knob("client", "space", "left setup"))
            raise error
        assert bench.world.hosts["client"].values["space"] == "131072"
        return measured()

    bench.outcome = outcome
    ending = bench.run(SMALL)
    assert (ending.early, ending.not_ok, ending.failure, len(bench.transfers)) == ("", 1, error, 16)
    trial = bench.trials()["b001-0003"]
    assert (trial.status, trial.reason, trial.verified) == ("failed", error.cause_first(), False)
    assert (trial.elapsed_s, trial.wire_tx_bytes, trial.retransmits, trial.effective) == (None, None, None, Effective())
    assert trial.ceiling_bytes_per_s == RATES[trial.direction]


def test_a_void_trial_keeps_its_numbers_and_its_reason(bench: RunBench) -> None:
    bench.outcome = lambda trial_id: measured("cached" if trial_id == "b002-0001" else "")
    assert bench.run(SMALL).not_ok == 1
    trial = bench.trials()["b002-0001"]
    assert (trial.status, trial.reason, trial.elapsed_s, trial.verified) == ("void", "cached", 0.5, True)


def test_a_network_that_cannot_be_set_fails_its_trials_and_no_others(bench: RunBench) -> None:
    set_up = bench.session.set_up_network

    def set_up_network(case: Case) -> None:
        if case.mtu == 9000:
            raise LabFailure("packets of MTU 9000 do not reach the server")
        set_up(case)

    bench.session.set_up_network = set_up_network
    assert bench.run(SMALL).not_ok == 8
    for trial in bench.transferred().values():
        assert (trial.status == "failed") == (trial.ceiling_bytes_per_s is None) == (trial.mtu == 9000)


def test_a_ceiling_that_cannot_be_measured_is_recorded_and_the_trials_are_run(bench: RunBench) -> None:
    bench.link = Mock(side_effect=LabFailure("iperf3: unable to connect"))
    assert bench.run(SMALL).not_ok == 8
    assert {(trial.status, trial.ceiling_bytes_per_s) for trial in bench.transferred().values()} == {("ok", None)}
    links = [trial for trial in bench.trials().values() if trial.protocol == "link"]
    why = "iperf3: unable to connect"
    assert {(trial.status, trial.reason, trial.size_bytes) for trial in links} == {("failed", why, 0)}


@pytest.mark.parametrize("error", [RestoreError(["MTU should be 1500"]), Interrupted("by SIGINT"), KeyError("x")])
def test_some_errors_end_a_sweep_and_what_was_measured_is_kept(bench: RunBench, error: Exception) -> None:
    bench.outcome = Mock(side_effect=[measured(), measured(), measured(), error])
    with pytest.raises(type(error)):
        bench.run(SMALL)
    assert list(bench.transferred()) == ["b001-0001", "b001-0002", "b001-0003"]


def test_a_failed_trial_whose_settings_stay_changed_ends_the_sweep(bench: RunBench) -> None:
    def outcome(_: str) -> TransferResult:
        bench.world.settings.apply(knob("client", "space", "stuck"))
        bench.world.hosts["client"].stuck_keys.add("space")
        raise TransferError("broken")

    bench.outcome = outcome
    with pytest.raises(RestoreError, match="knob space should be '131072' and is 'stuck'"):
        bench.run(SMALL)
    assert len(bench.transfers) == 1


# --- a server that nobody logs in to


def test_without_an_iperf3_no_link_is_measured_and_every_trial_is_run(bench: RunBench) -> None:
    unseen_result = replace(measured(), server=None)
    bench.hide_server()
    bench.outcome = lambda _: unseen_result
    bench.run(sweep_of(blocks=1, store=["disk"]))
    assert (bench.ceilings, bench.trials()) == ([], bench.transferred())
    trials = bench.trials().values()
    assert {(trial.status, trial.server_cpu_s, trial.retransmits) for trial in trials} == {("ok", None, 3)}


def test_an_iperf3_that_listens_is_asked_and_none_is_started(bench: RunBench, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = Mock(side_effect=lambda _client, _call, _address, direction, *_: bench.link(direction))
    monkeypatch.setattr("lab.workloads.iperf3.measure", measure)
    monkeypatch.setattr("lab.workloads.iperf3.server", lambda *_: pytest.fail("it was started"))
    bench.hide_server(iperf3="192.0.2.9:5555")
    bench.run(sweep_of(blocks=1, store=["disk"], direction=["write"]))
    asked = {(call.args[2], call.args[3], call.args[5]) for call in measure.call_args_list}
    assert asked == {("192.0.2.9", "write", 5555), ("192.0.2.9", "read", 5555)}
    assert bench.ceilings_of_trials() == {100e6}
