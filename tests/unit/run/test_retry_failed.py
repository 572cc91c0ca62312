"""Failed trials that are measured again: which ones, with which ceilings, and what is kept of the first attempt."""

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import Mock

from support.runner_bench import RATES, SMALL, RunBench, measured

from lab.base.errors import LabFailure, TransferError
from lab.design.factors import Direction
from lab.design.plan import plan
from lab.results.run_folder import RunFolder
from lab.run.begin.look import plan_of
from lab.run.case.catalogue import CATALOGUE
from lab.run.runner import Ending
from lab.run.transfer.recorded import check_recorded
from lab.run.transfer.result import TransferResult


def test_failed_trials_are_measured_again_on_request_and_the_first_attempt_is_kept(bench: RunBench) -> None:
    lost = ["b001-0003", "b002-0001"]
    bench.outcome = failing(lost)
    assert bench.run(SMALL).to_retry == 2
    ceilings, before = len(bench.ceilings), bench.trials()
    for attempt in ("-failed", "-failed-2"):
        ending = anew(bench)
        assert (ending.early, ending.to_retry, bench.transfers) == ("", 2, lost)
        assert [name for name in bench.trials() if name.endswith(attempt)] == [f"{name}{attempt}" for name in lost]
    bench.outcome = lambda trial_id: measured("cached" if trial_id == "b002-0001" else "")
    assert bench.run(SMALL).not_ok == 2, "nothing is repeated unasked"
    ending = anew(bench)
    assert (ending.to_retry, ending.not_ok, bench.transfers) == (0, 1, lost)
    assert len(bench.ceilings) == ceilings
    trials = bench.trials()
    assert [trials[name].status for name in lost] == ["ok", "void"]
    assert len(trials) == len(before) + 3 * len(lost)
    for name in lost:
        assert trials[f"{name}-failed"] == replace(before[name], trial_id=f"{name}-failed")
        assert trials[name].ceiling_bytes_per_s == RATES[trials[name].direction]
    folder = RunFolder(bench.folder.path)
    check_recorded(folder, SMALL, plan_of(folder, SMALL))


def test_a_ceiling_is_measured_again_only_if_no_trial_that_stays_has_noted_it(bench: RunBench) -> None:
    slots = plan(SMALL, CATALOGUE).slots
    lost = [slot.trial_id for slot in slots if (slot.block, slot.case.mtu) == (2, 9000)]
    bench.outcome, bench.link = failing(lost), Mock(side_effect=LabFailure("iperf3: unable to connect"))
    ending = bench.run(SMALL)
    assert (ending.not_ok, ending.to_retry) == (8 + len(lost), 2 + len(lost))
    bench.link = lambda direction: {"bytes": RATES[direction], "elapsed_s": 1.0, "bytes_per_s": RATES[direction]}
    bench.outcome = lambda _: measured()
    bench.ceilings.clear()
    ending = anew(bench)
    assert (ending.not_ok, ending.to_retry) == (6, 0)
    assert sorted(bench.ceilings) == [("read", 9000), ("write", 9000)]
    for slot in slots:
        ceiling = bench.trials()[slot.trial_id].ceiling_bytes_per_s
        assert ceiling == (RATES[slot.case.direction] if slot.trial_id in lost else None)


def test_a_ceiling_is_measured_again_for_its_direction_although_trials_of_the_other_one_stay(bench: RunBench) -> None:
    lost = [slot.trial_id for slot in plan(SMALL, CATALOGUE).slots if slot.case.direction is Direction.WRITE]
    real = bench.link

    def broken(direction: str) -> dict[str, float]:
        if direction == "write":
            raise LabFailure("iperf3: unable to connect")
        return real(direction)

    bench.outcome, bench.link = failing(lost), broken
    ending = bench.run(SMALL)
    assert (ending.not_ok, ending.to_retry) == (4 + len(lost), 4 + len(lost))
    bench.outcome, bench.link = lambda _: measured(), real
    ending = anew(bench)
    assert (ending.not_ok, ending.to_retry) == (0, 0)
    assert {bench.trials()[name].ceiling_bytes_per_s for name in lost} == {RATES["write"]}


def failing(lost: list[str]) -> Callable[[str], TransferResult]:
    """The outcome of transfers of which these fail."""

    def outcome(trial_id: str) -> TransferResult:
        if trial_id in lost:
            raise TransferError(f"{trial_id} broke")
        return measured()

    return outcome


def anew(bench: RunBench) -> Ending:
    """Measure failed trials again, after the hosts were put back."""
    bench.put_back()
    return bench.run(SMALL, retry_failed=True)
