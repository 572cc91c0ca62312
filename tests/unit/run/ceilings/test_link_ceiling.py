"""The link by itself: in both directions before and after the trials of each network of a block."""

from collections.abc import Callable
from unittest.mock import Mock

import pytest
from support.parts import case_of
from support.runner_bench import SMALL, RunBench, measured, rate
from support.sweeps import sweep_of
from support.synthetic_runs import trial

from lab.base.errors import Interrupted, LabFailure, RestoreError
from lab.design.blocks import Slot
from lab.design.case import Case
from lab.results import run_folder
from lab.run.ceilings import link_ceiling

WRITES = sweep_of(blocks=2, protocol=["smb"], direction=["write"])
REPLACED = "20.0 MB/s, less than half of its twin's 90.0: measured again, 90.0"
ONE_BLOCK, TWO_BLOCKS = (sweep_of(blocks=blocks, protocol=["smb"]) for blocks in (1, 2))


@pytest.fixture
def twice(bench: RunBench) -> RunBench:
    """A bench whose run has two shots."""
    bench.folder.update(ceiling_shots=2)
    return bench


def cut_at(bench: RunBench, test: int) -> Callable[[str], dict[str, float]]:
    """A link that goes down and up during the test of this number."""

    def link(_: str) -> dict[str, float]:
        if len(bench.ceilings) == test:
            bench.carrier_changes["client"] = 3
        return rate(100e6)

    return link


def network_that_fails(bench: RunBench, error: LabFailure, fails: Callable[[Case], bool]) -> None:
    """Let setting the network fail for these cases."""
    set_up = bench.session.set_up_network

    def set_up_network(case: Case) -> None:
        if fails(case):
            raise error
        set_up(case)

    bench.session.set_up_network = set_up_network


# --- the first shot


def test_cases_on_one_network_share_their_ceilings_within_a_block() -> None:
    first = link_ceiling.ids(Slot(2, 1, case_of(tcp_space=65536)))
    assert first == {"write": "b002-link-mtu1500-tcp65536-write", "read": "b002-link-mtu1500-tcp65536-read"}
    assert link_ceiling.ids(Slot(2, 7, case_of("read", "nfs", tcp_space=65536))) == first
    for other in (Slot(2, 7, case_of(mtu=9000, tcp_space=65536)), Slot(3, 1, case_of(tcp_space=65536))):
        assert not set(link_ceiling.ids(other).values()) & set(first.values())


def test_only_a_good_measurement_has_a_rate() -> None:
    tests = [trial(protocol="link", size_bytes=1000, elapsed_s=0.5, status=status) for status in ("ok", "failed")]
    assert [link_ceiling.rate(test) for test in (*tests, None)] == [2000, None, None]


def links(bench: RunBench) -> dict[str, tuple[str, int]]:
    """Status and MB/s of each ceiling of the bench's run, by what its id adds to block and network."""
    trials = [trial for trial in bench.trials().values() if trial.protocol == "link" and trial.mtu == 1500]
    return {trial.trial_id.replace("-link-mtu1500-tcpdefault", ""): (trial.status, trial.size_bytes // 10**6)
            for trial in trials}  # fmt: skip


@pytest.mark.parametrize("tested", [3, 7], ids=["the first block", "a later block"])
def test_a_ceiling_in_which_the_carrier_changed_is_void_and_measured_again(bench: RunBench, tested: int) -> None:
    bench.link = cut_at(bench, tested)
    ending = bench.run(sweep_of(blocks=4, protocol=["smb"]))
    assert list(bench.reasons("void").values()) == ["an outage: 2 carrier changes on the client"]
    name = f"b00{(tested + 1) // 2}-write"
    assert (links(bench)[f"{name}-void"], links(bench)[name]) == (("void", 100), ("ok", 100))
    assert (ending.not_ok, len(bench.ceilings), bench.ceilings_of_trials()) == (0, 9, {100e6})


@pytest.mark.parametrize(("number", "name"), [(1, "b001-write"), (2, "b001-read"), (5, "b003-write"), (6, "b003-read")])
def test_a_ceiling_below_half_of_its_twin_is_void_and_measured_again(bench: RunBench, number: int, name: str) -> None:
    bench.link = lambda _: rate(20e6 if len(bench.ceilings) == number else 90e6)
    bench.run(sweep_of(blocks=3, protocol=["smb"]))
    assert (links(bench)[f"{name}-void"], links(bench)[name]) == (("void", 20), ("ok", 90))
    assert list(bench.reasons("void").values()) == [REPLACED]
    assert bench.ceilings_of_trials() == {90e6}


def test_a_link_that_is_slower_one_way_is_believed_once_it_says_so_twice(bench: RunBench) -> None:
    bench.link = lambda way: rate({"write": 90e6, "read": 20e6}[way])
    assert bench.run(TWO_BLOCKS).not_ok == 0
    assert links(bench) == {
        "b001-write": ("ok", 90), "b001-read": ("ok", 20), "b001-read-again": ("ok", 20),
        "b002-write": ("ok", 90), "b002-read": ("ok", 20),
    }  # fmt: skip


# --- the second shot


def names(bench: RunBench) -> list[str]:
    """The ids of all trials, in the order in which they were recorded."""
    return list(bench.trials())


@pytest.mark.parametrize("anchors", [0, 2])
def test_each_network_is_measured_before_its_first_and_after_its_last_trial(twice: RunBench, anchors: int) -> None:
    twice.run(SMALL.model_copy(update={"anchors": anchors}))
    trials = list(twice.trials().values())
    assert len(twice.ceilings) == 16
    for block in (1, 2):
        for mtu in (1500, 9000):
            of_network = [trial for trial in trials if (trial.block, trial.mtu) == (block, mtu)]
            before = {f"b00{block}-link-mtu{mtu}-tcpdefault-{way}" for way in ("write", "read")}
            assert {trial.trial_id for trial in of_network[:2]} == before
            assert {trial.trial_id for trial in of_network[-2:]} == {f"{name}-after" for name in before}
            assert {trial.protocol for trial in of_network[2:-2]} == {"smb", "nfs"}
    assert twice.world.hosts["server"].values["mount"] == "absent"


def test_a_run_that_was_torn_before_a_second_shot_takes_it_and_nothing_else(twice: RunBench) -> None:
    usual = twice.link
    # the last network's, when all trials are there
    twice.link = Mock(side_effect=[*map(usual, ["write", "read"] * 3), Interrupted("stopped by SIGTERM")])
    twice.tear(TWO_BLOCKS)
    twice.link = usual
    before = names(twice)
    assert before[-1] == "b002-0002"
    for _ in range(2):
        twice.run_again(TWO_BLOCKS)
        ways = ("write", "read")
        assert names(twice) == [*before, *(f"b002-link-mtu1500-tcpdefault-{way}-after" for way in ways)]


def test_a_run_with_one_shot_is_resumed_with_one(bench: RunBench) -> None:
    bench.outcome = Mock(side_effect=[measured(), measured(), Interrupted("stopped by SIGTERM")])
    with pytest.raises(Interrupted):
        bench.run(TWO_BLOCKS)
    bench.outcome = lambda _: measured()
    bench.run(TWO_BLOCKS)
    assert len(bench.ceilings) == 4
    assert not [name for name in names(bench) if name.endswith("-after")]


def test_a_second_shot_of_less_than_half_of_the_first_is_void_and_taken_again(twice: RunBench) -> None:
    # before (write, read), after (write, read): the third one is cut
    twice.link = lambda _: rate(20e6 if len(twice.ceilings) == 3 else 90e6)
    assert twice.run(ONE_BLOCK).not_ok == 0
    assert twice.reasons("void") == {"b001-link-mtu1500-tcpdefault-write-after-void": REPLACED}
    assert twice.trials()["b001-link-mtu1500-tcpdefault-write-after"].size_bytes == 90e6


def test_a_second_shot_in_which_the_carrier_changed_is_void_and_taken_again(twice: RunBench) -> None:
    twice.link = cut_at(twice, 4)
    assert twice.run(ONE_BLOCK).not_ok == 0
    outage = "an outage: 2 carrier changes on the client"
    assert twice.reasons("void") == {"b001-link-mtu1500-tcpdefault-read-after-void": outage}


def test_the_larger_shot_is_the_ceiling_of_the_trials_between(twice: RunBench) -> None:
    # write: 100, then 120 MB/s; read: 80, then 60
    rates = iter([100e6, 80e6, 120e6, 60e6])
    twice.link = lambda _: rate(next(rates))
    twice.run(ONE_BLOCK)
    assert twice.ceilings_of_trials() == {100e6, 80e6}
    frame = run_folder.load(twice.folder.path).set_index("trial_id")
    moved = frame[frame["protocol"] == "smb"].set_index("direction")
    assert dict(moved["ceiling_bytes_per_s"]) == {"write": 120e6, "read": 80e6}
    assert dict(moved["share_of_ceiling"]) == pytest.approx(dict(moved["bytes_per_s"] / moved["ceiling_bytes_per_s"]))
    links = frame[frame["protocol"] == "link"]
    assert sorted(links["share_of_ceiling"]) == [60 / 80, 100 / 120, 1.0, 1.0]


def test_a_shot_that_is_void_or_of_another_block_is_no_ceiling(twice: RunBench) -> None:
    # of block 1: before (write, read) and after; then the same of block 2, where the first write is cut
    rates = iter([50e6, 50e6, 55e6, 50e6, 20e6, 90e6, 95e6, 90e6, 90e6])
    twice.link = lambda _: rate(next(rates))
    twice.run(WRITES)
    frame = run_folder.load(twice.folder.path)
    moved = frame[frame["protocol"] == "smb"].set_index("block")
    assert dict(moved["ceiling_bytes_per_s"]) == {1: 55e6, 2: 95e6}
    assert list(frame.loc[frame["status"] == "void", "MB_per_s"]) == [20.0]


@pytest.mark.parametrize("mtu", [1500, 9000])
def test_a_second_shot_that_is_not_possible_is_a_failed_trial_and_the_sweep_goes_on(twice: RunBench, mtu: int) -> None:
    first = f"b001-link-mtu{mtu}-tcpdefault"

    def fails(case: Case) -> bool:
        return case.mtu == mtu and f"{first}-read" in names(twice) and f"{first}-write-after" not in names(twice)

    network_that_fails(twice, LabFailure("the MTU is lost"), fails)
    assert (twice.run(SMALL).not_ok, len(twice.transfers)) == (2, 16)
    assert twice.reasons("failed") == {f"{first}-{way}-after": "the MTU is lost" for way in ("write", "read")}
    twice.session.set_up_network = twice.set_up_network
    assert (twice.run(SMALL, retry_failed=True).not_ok, len(twice.transfers)) == (0, 16)
    statuses = {name: trial.status for name, trial in twice.trials().items()}
    again = {name: status for name, status in statuses.items() if name.startswith(first) and "-after" in name}
    assert again == {
        f"{first}-{way}-after{ending}": status
        for way in ("write", "read") for ending, status in (("", "ok"), ("-failed", "failed"))
    }  # fmt: skip


def test_a_second_shot_after_which_a_setting_stays_changed_ends_the_sweep(twice: RunBench) -> None:
    network_that_fails(twice, RestoreError(["MTU should be 1500"]), lambda _: "b001-0002" in names(twice))
    with pytest.raises(RestoreError):
        twice.run(TWO_BLOCKS)
    assert names(twice)[-1] == "b001-0002"
