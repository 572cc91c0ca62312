"""What fails in a sweep: it is recorded and passed; what cannot be put back ends the sweep."""

import pytest
from support.memory_host import knob
from support.runner_bench import RATES, SMALL, Bench, measured

from lab.base.errors import CommandError, HostError, Interrupted, LabFailure, RestoreError, TransferError
from lab.design.case import Case
from lab.results.effective import Effective
from lab.run.transfer.result import TransferResult

FAILURES = [
    TransferError("client: cp: exit code 1: No space left"),
    HostError("client: the connection was lost"),
    CommandError("server", ("smbd",), 1, "it broke"),
    LabFailure("any"),
]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_a_failed_trial_is_recorded_and_the_sweep_goes_on_from_scratch(bench: Bench, error: LabFailure) -> None:
    def outcome(trial_id: str) -> TransferResult:
        if trial_id == "b001-0003":
            bench.world.settings.apply(knob("client", "space", "left setup"))
            raise error
        assert bench.world.hosts["client"].values["space"] == "131072"
        return measured()

    bench.outcome = outcome
    ending = bench.runner(SMALL).run()
    assert (ending.early, ending.not_ok, len(bench.transfers)) == ("", 1, 16)
    trial = bench.trials()["b001-0003"]
    assert (trial.status, trial.reason, trial.verified) == ("failed", error.cause_first(), False)
    assert (trial.elapsed_s, trial.wire_tx_bytes, trial.retransmits, trial.effective) == (None, None, None, Effective())
    assert trial.ceiling_bytes_per_s == RATES[trial.direction]


def test_a_void_trial_keeps_its_numbers_and_its_reason(bench: Bench) -> None:
    bench.outcome = lambda trial_id: measured("cached" if trial_id == "b002-0001" else "")
    assert bench.runner(SMALL).run().not_ok == 1
    trial = bench.trials()["b002-0001"]
    assert (trial.status, trial.reason, trial.elapsed_s, trial.verified) == ("void", "cached", 0.5, True)


def test_a_network_that_cannot_be_set_fails_its_trials_and_no_others(bench: Bench) -> None:
    set_up = bench.session.set_up_network

    def set_up_network(case: Case) -> None:
        if case.mtu == 9000:
            raise LabFailure("packets of MTU 9000 do not reach the server")
        set_up(case)

    bench.session.set_up_network = set_up_network
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
    def outcome(trial_id: str) -> TransferResult:
        if trial_id == "b001-0004":
            raise error
        return measured()

    bench.outcome = outcome
    with pytest.raises(type(error)):
        bench.runner(SMALL).run()
    assert list(bench.transferred()) == ["b001-0001", "b001-0002", "b001-0003"]


def test_a_failed_trial_whose_settings_stay_changed_ends_the_sweep(bench: Bench) -> None:
    def outcome(_: str) -> TransferResult:
        bench.world.settings.apply(knob("client", "space", "stuck"))
        bench.world.hosts["client"].stuck_keys.add("space")
        raise TransferError("broken")

    bench.outcome = outcome
    with pytest.raises(RestoreError, match="knob space should be '131072' and is 'stuck'"):
        bench.runner(SMALL).run()
    assert len(bench.transfers) == 1
