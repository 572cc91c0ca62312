"""A sweep that goes on until it is precise: where it stops, resumed or not, and what it says where it is not."""

import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest
from support.runner_bench import RunBench, measured
from support.sweeps import sweep_of

from lab.base.errors import Interrupted
from lab.design import stopping
from lab.design.plan import plan
from lab.design.sweep_file import Sweep
from lab.results import run_folder
from lab.run import runner as runner_module
from lab.run.case.catalogue import CATALOGUE
from lab.run.runner import Ending
from lab.run.transfer.result import TransferResult
from lab.stats import wide_effects

PRECISE = sweep_of(blocks=10, mtu=[1500, 9000]).model_copy(update={"precision": 0.03, "max_blocks": 40})
SPREAD = 0.023  # its precision takes some blocks more than the least


def noisy(spread: float) -> Callable[[str], TransferResult]:
    """Transfers whose time depends on nothing but their name, with a standard deviation of its logarithm."""

    def outcome(trial_id: str) -> TransferResult:
        timing = replace(measured().timing, elapsed_s=0.5 * math.exp(random.Random(trial_id).gauss(0, spread)))
        return replace(measured(), timing=timing)

    return outcome


def looks(bench: RunBench, sweep: Sweep, blocks: int) -> list[list[str]]:
    """What is too wide after 1, 2, … so many blocks, from the run folder."""
    trials = run_folder.load(bench.folder.path)
    names = [effect.name for effect in plan(sweep, CATALOGUE).effects]
    assert sweep.precision
    return [wide_effects(trials[trials["block"] <= n], names, sweep.precision) for n in range(1, blocks + 1)]


def last_block(bench: RunBench) -> int:
    return max(trial.block for trial in bench.transferred().values())


@pytest.fixture(scope="module")
def precise(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunBench, Ending]:
    """A run that went on until it was precise, and how it ended."""
    with pytest.MonkeyPatch.context() as patch:
        precise_bench = RunBench(tmp_path_factory.mktemp("precise"), patch)
        precise_bench.outcome = noisy(SPREAD)
        return precise_bench, precise_bench.run(PRECISE)


def test_a_run_goes_on_until_it_is_precise_and_no_longer(precise: tuple[RunBench, Ending]) -> None:
    bench, ending = precise
    blocks = last_block(bench)
    assert (ending.early, ending.imprecise, ending.text) == ("", "", "complete")
    assert stopping.LEAST_BLOCKS < blocks < 40
    narrow = [not wide for wide in looks(bench, PRECISE, blocks)]
    stops = [n for n in range(10, blocks + 1) if stopping.enough(n, narrow[max(0, n - stopping.LOOKS) : n])]
    assert (stops, len(bench.transferred())) == ([blocks], 4 * blocks)


def test_a_run_without_noise_ends_after_its_least_blocks(bench: RunBench) -> None:
    bench.run(PRECISE)
    assert last_block(bench) == 10


def test_a_resumed_run_stops_where_it_would_have_stopped(precise: tuple[RunBench, Ending], bench: RunBench) -> None:
    whole = {trial_id: trial.elapsed_s for trial_id, trial in precise[0].transferred().items()}
    for stop_at in ("b003-0002", "b011-0003", "b012-0001"):

        def outcome(trial_id: str, stop_at: str = stop_at) -> TransferResult:
            if trial_id == stop_at:
                raise Interrupted("stopped by SIGINT")
            return noisy(SPREAD)(trial_id)

        bench.outcome = outcome
        bench.tear(PRECISE)
    bench.outcome = noisy(SPREAD)
    assert bench.run(PRECISE).text == "complete"
    assert {trial_id: trial.elapsed_s for trial_id, trial in bench.transferred().items()} == whole
    assert bench.run_again(PRECISE).text == "complete"


def test_a_precision_that_is_not_reached_is_reported_with_every_width(bench: RunBench) -> None:
    bench.outcome = noisy(0.2)
    hasty = PRECISE.model_copy(update={"max_blocks": 11, "effects": ("mtu", "direction:mtu")})
    ending = bench.run(hasty)
    assert (last_block(bench), ending.early) == (11, "")
    rows = ["MTU 1500 → 9000, all cases", "MTU 1500 → 9000, SMB cp write", "MTU 1500 → 9000, SMB cp read"]
    rows += ["direction write → read with MTU 1500 → 9000, all cases"]
    wide = "; ".join(rf"{row}: ±[0-9.]+ %" for row in rows)
    assert re.fullmatch(f"the precision of ± 3 % was not reached in 11 blocks: {wide}", ending.imprecise)
    assert ending.text == ending.imprecise
    assert bench.run_again(hasty) == ending


def test_a_cap_ends_an_imprecise_run_and_both_are_reported(bench: RunBench, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(runner_module, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def outcome(trial_id: str) -> TransferResult:
        clock[0] += 10
        return noisy(0.2)(trial_id)

    bench.outcome = outcome
    ending = bench.run(PRECISE.model_copy(update={"time_cap": 495.0}))
    assert ending.early == "the time cap of 495 s was reached after 50 of 40 to 160 trials"
    shortfall = "the precision of ± 3 % was not reached in 12 blocks: MTU 1500 → 9000, all cases: ±"
    assert ending.imprecise.startswith(shortfall)
    assert ending.text == f"{ending.early}; {ending.imprecise}"


def test_a_watcher_knows_how_many_blocks_there_may_be(precise: tuple[RunBench, Ending]) -> None:
    bench, _ = precise
    assert {(step.least_blocks, step.most_blocks) for step in bench.reports} == {(10, 40)}
    assert all(step.total == 4 * max(10, step.slot.block) for step in bench.reports)
    assert bench.reports[-1].done == bench.reports[-1].total
