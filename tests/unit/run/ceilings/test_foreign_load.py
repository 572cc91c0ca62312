"""The load of others on the hosts, by block; a disturbed block can be measured again, and is kept."""

import json
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock, call

import pytest
from support.runner_bench import SMALL, RunBench, measured

from lab.base.present import present
from lab.design.plan import plan
from lab.platforms.readings import Ticks
from lab.results import run_folder
from lab.results.observed import HostUsage, Observed
from lab.results.run_folder import RunFolder
from lab.results.trial import run_problem
from lab.run.begin.look import plan_of
from lab.run.case.catalogue import CATALOGUE
from lab.run.ceilings import foreign_load
from lab.run.runner import MOST_REPEATS
from lab.run.transfer.recorded import check_recorded
from lab.run.transfer.result import TransferResult


def usage(user: float, cpu_cores: float | None, steal: float = 0.0) -> HostUsage:
    return HostUsage(cores=4, cpu_cores=cpu_cores, user=user, system=0.1, softirq=0.05, iowait=0.3, steal=steal)


def observed(others: float) -> Observed:
    """A machine with four cores: the two hosts use 0.7 cores, and others so many."""
    share = (0.7 + others) / 4 - 0.15
    return Observed(client=usage(share, 0.4), server=usage(share, 0.3))


def test_others_used_what_neither_host_did() -> None:
    assert foreign_load.cores_of_others(observed(1.2)) == pytest.approx(1.2)
    busy = Observed(client=usage(0.1, 0.2, steal=0.25), server=usage(0.1, 0.2))
    assert foreign_load.cores_of_others(busy) == pytest.approx(1.6), "stolen time is used by others, a wait is not"
    assert foreign_load.cores_of_others(Observed(client=usage(0.1, 0.9), server=usage(0.1, 0.9))) == 0.0
    by_link = replace(observed(1.2), client=replace(present(observed(1.2).client), link_cores=0.5))
    assert foreign_load.cores_of_others(by_link) == pytest.approx(0.7), "what carries the link is the lab's"


@pytest.mark.parametrize(
    "unknown", [Observed(), Observed(client=usage(0.1, None), server=usage(0.1, 0.1)), Observed(client=usage(0.1, 0.1))]
)
def test_what_is_not_counted_is_no_load(unknown: Observed) -> None:
    assert foreign_load.cores_of_others(unknown) is None


def test_the_load_of_a_block_is_the_mean_over_the_time_of_its_transfers(bench: RunBench) -> None:
    bench.run(SMALL)
    first, second = list(bench.transferred().values())[:2]
    long = replace(first, observed=observed(2.0), elapsed_s=3.0)
    short = replace(second, observed=observed(0.0), elapsed_s=1.0)
    link = replace(first, protocol="link", observed=observed(4.0), elapsed_s=9.0)
    assert foreign_load.load_of_transfers([long, short, link]) == {"client": 1.5, "server": 1.5}
    assert foreign_load.load_of_transfers([link]) == {}


def with_load(bench: RunBench, loads: dict[int, list[float]]) -> None:
    """Let others use so many cores in each try of a block."""
    tries: dict[int, int] = {}

    def outcome(trial_id: str) -> TransferResult:
        block = int(trial_id[1:4])
        if trial_id.endswith("-0001"):
            tries[block] = tries.get(block, -1) + 1
        return replace(measured(), observed=observed(loads[block][tries[block]]))

    bench.outcome = outcome


def test_the_load_of_each_block_is_in_run_json_and_reported_at_the_end(bench: RunBench) -> None:
    with_load(bench, {1: [0.2], 2: [1.4]})
    ending = bench.run(SMALL)
    loads = [{"block": 1, "client": 0.2, "server": 0.2}, {"block": 2, "client": 1.4, "server": 1.4}]
    assert RunFolder(bench.folder.path).run["load"] == loads
    assert ending.disturbed == "in block 2 others used 1.4 cores of the client and 1.4 cores of the server"
    assert (ending.not_ok, len(bench.transfers)) == (0, 16), "that is reported, and nothing is repeated unasked"


def test_a_disturbed_block_is_measured_again_and_the_first_kept_as_void(bench: RunBench) -> None:
    with_load(bench, {1: [0.9, 0.1], 2: [0.1]})
    ending = bench.run(SMALL, repeat_disturbed=True)
    slots = [slot.trial_id for slot in plan(SMALL, CATALOGUE).slots]
    assert bench.transfers == [*slots[:8], *slots]
    assert (ending.early, ending.not_ok, ending.disturbed) == ("", 0, "")
    trials = bench.trials()
    assert {trials[name].status for name in slots} == {"ok"}
    aside = [trial for name, trial in trials.items() if name.endswith("-disturbed")]
    assert len(aside) == 8 + 4, "transfers, and both directions of two networks of the link"
    why = "disturbed: others used 0.9 cores of the client and 0.9 cores of the server"
    assert {(trial.status, trial.reason, bool(trial.elapsed_s)) for trial in aside} == {("void", why, True)}
    samples = [json.loads(line)["trial_id"] for line in bench.folder.samples_path.read_text().splitlines()]
    assert sorted(samples) == sorted([*slots, *(f"{name}-disturbed" for name in slots[:8])])
    assert len(run_folder.load(bench.folder.path)) == len(trials)
    folder = RunFolder(bench.folder.path)
    check_recorded(folder, SMALL, plan_of(folder, SMALL))


def test_a_block_that_stays_disturbed_is_measured_three_times_and_then_counts(bench: RunBench) -> None:
    with_load(bench, {1: [0.9] * (MOST_REPEATS + 1), 2: [0.0]})
    ending = bench.run(SMALL, repeat_disturbed=True)
    assert len(bench.transfers) == 8 * (MOST_REPEATS + 2)
    assert ending.disturbed.startswith("in block 1 others used 0.9 cores of the client")
    voids = bench.reasons("void").keys() & bench.transferred().keys()
    assert {trial_id.rpartition("disturbed")[2] for trial_id in voids} == {"", "-2"}


def test_speeds_have_no_part_in_what_is_repeated(bench: RunBench) -> None:
    def outcome(trial_id: str) -> TransferResult:
        slow = replace(measured().timing, elapsed_s=50.0) if trial_id.startswith("b001") else measured().timing
        return replace(measured(), timing=slow, observed=observed(0.4))

    bench.outcome = outcome
    bench.run(SMALL, repeat_disturbed=True)
    assert len(bench.transfers) == 16


def test_a_run_can_be_resumed_to_repeat_a_disturbed_block(bench: RunBench) -> None:
    with_load(bench, {1: [0.1], 2: [3.0]})
    bench.run(SMALL)
    bench.transfers.clear()
    with_load(bench, {2: [0.0]})
    assert bench.run(SMALL, repeat_disturbed=True).disturbed == ""
    assert bench.transfers == [slot.trial_id for slot in plan(SMALL, CATALOGUE).slots][8:]


def test_machines_of_their_own_are_looked_at_before_and_after_each_block(bench: RunBench) -> None:
    """The client has two cores, 0.8 of them busy; the server does not count its cores."""
    ticks = Ticks(40 * foreign_load.QUIET_S, 0, 0, 60 * foreign_load.QUIET_S, 0, 0, 0, 0)
    count_ticks = Mock(return_value={"cpu0": ticks, "cpu1": ticks})
    bench.session.on_one_machine = False
    platforms = bench.session.pair.platforms
    platforms["client"].clock = SimpleNamespace(count_ticks=count_ticks)
    platforms["server"].clock = SimpleNamespace(count_ticks=lambda _: {})
    bench.run(SMALL)
    assert RunFolder(bench.folder.path).run["load"] == [{"block": 1, "client": 0.8}, {"block": 2, "client": 0.8}]
    assert count_ticks.call_args_list == [call(foreign_load.QUIET_S)] * 4


@pytest.mark.parametrize("load", [[1], [{"client": 1.0}], [{"block": 1, "client": "much"}], [{"block": 1, "x": 1}], {}])
def test_a_load_that_no_lab_wrote_is_refused(load: object) -> None:
    assert "load" in run_problem({"schema": 2, "load": load})
