"""How far the answer of a run says that it can be trusted."""

from dataclasses import replace
from typing import Any

import pytest
from support.rendered import answer_of
from support.synthetic_runs import make_trials, trial

from lab.results.observed import Observed
from lab.results.run_folder import Trial

TWO_BLOCKS = make_trials(2, (1500,), ("default",), [("afp", "cp")])
LOW = {"block": 1, "client": 0.05, "server": 0.02}


def trust(trials: list[Trial] = TWO_BLOCKS, **run: Any) -> str:
    return answer_of(trials, **run)["Trust"]


def test_one_machine_for_both_hosts_is_always_told() -> None:
    assert trust().startswith("local lab on one machine: no number holds for other hardware")
    mac = {"client": {"platform": "macos"}, "server": {}}
    assert trust(hosts=mac).startswith("local lab with an emulated Mac on one machine: ")
    emulated = trust(instance=None, hosts={"client": {"platform": "macos", "cpu": "EMULATED"}})
    assert emulated.startswith("an emulated Mac: no number is of a Mac")
    assert "local lab" not in trust(instance=None)


def test_a_drift_tells_the_first_and_the_last_speed_of_the_direction_that_changed_most() -> None:
    speeds = (280, 250, 180, 120, 90, 70, 60)
    made = [each for each in make_trials(7, (1500,), ("default",), [("afp", "cp")]) if each.protocol == "afp"]
    rates = [1e6 * (speeds[each.block - 1] if each.direction == "write" else 110) for each in made]
    trials = [
        replace(each, status="ok", elapsed_s=each.size_bytes / rate) for each, rate in zip(made, rates, strict=True)
    ]
    assert "% while the run went on: the write speed began at 280 MB/s and ended at 60 MB/s" in trust(trials)


def test_load_of_others_is_told_with_its_block() -> None:
    load = [LOW, {"block": 2, "client": 1.31, "server": 0.02}]
    assert "other programs used up to 1.3 cores of the client (block 2)" in trust(load=load)
    relay = {"block": 1, "client": 0.35, "server": 0.35}  # what a local lab itself needs outside of its hosts
    for idle in (LOW, relay):
        assert "the hosts were idle otherwise" in trust(load=[idle])
    for nothing in ([], [{"block": 1}]):
        assert "cores of" not in trust(load=nothing)


def observing(client_by_block: dict[int, dict[str, Any]], **changes: Any) -> list[Trial]:
    """The few trials with what was observed of the client in each block."""
    observed = {block: Observed.from_json({"client": client}) for block, client in client_by_block.items()}
    return [replace(made, observed=observed.get(made.block, Observed()), **changes) for made in TWO_BLOCKS]


def test_hosts_are_not_called_idle_where_a_case_was_disturbed() -> None:
    load = [{"block": block, "client": 0.4, "server": 0.1} for block in (1, 2)]
    waiting = {block: {"cores": 1, "waited_s": 0.5} for block in (1, 2)}
    text = answer_of(observing(waiting, elapsed_s=1.0), load=load)
    assert "disturbed (by other programs)" in text["Held back by"]
    assert "idle" not in text["Trust"]


@pytest.mark.parametrize(
    ("instance", "used"),
    [
        ("demo", "others used up to 0.9 cores (block 2), 0.6 outside this VM"),
        (None, "other programs used up to 0.9 cores of the client (block 2)"),
    ],
)
def test_what_was_stolen_of_a_virtual_machine_is_told_apart(instance: str | None, used: str) -> None:
    """Between two machines the load is looked at while nothing is measured, so no part of it can be told."""
    load = [{"block": 1, "client": 0.1, "server": 0.1}, {"block": 2, "client": 0.9, "server": 0.8}]
    trials = observing({1: {"cores": 2, "steal": 0.4}, 2: {"cores": 2, "steal": 0.3}})
    assert f"not idle: {used}; " in trust(trials, load=load, instance=instance)


def test_what_a_foreign_run_says_of_cores_in_words_is_no_number() -> None:
    trials = observing({block: {"cores": "two", "steal": 0.4} for block in (1, 2)})
    text = trust(trials, load=[{"block": 1, "client": 0.9, "server": 0.9}], instance="demo")
    assert "other programs used up to 0.9 cores" in text


@pytest.mark.parametrize(
    ("shots", "differed"),
    [
        ([(1, 5.0), (2, 10.0)], "up to 100 %"),
        ([(1, 5.0), (1, 6.0), (2, 10.0), (2, 10.0)], "up to 100 % (20 % within a block)"),
    ],
)
def test_a_link_that_was_not_steady_is_told(shots: list[tuple[int, float]], differed: str) -> None:
    links = [
        trial(trial_id=f"l{number}", block=block, protocol="link", tool="iperf3", elapsed_s=elapsed)
        for number, (block, elapsed) in enumerate(shots)
    ]
    text = trust([trial(), trial(trial_id="b", block=2), *links])
    assert f"its speed at one setting differed by {differed}" in text
