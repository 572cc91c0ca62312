"""The link by itself, measured a second time after the trials of each network of a block."""

import pytest
from support.runner_bench import SMALL, Bench, measured
from support.sweeps import sweep_of

from lab.base.errors import Interrupted, LabFailure, RestoreError
from lab.design.case import Case
from lab.results import run_folder
from lab.run.transfer.result import TransferResult
from lab.settings.layers import Layers

ONE = sweep_of(blocks=2, protocol=["smb"])


@pytest.fixture
def twice(bench: Bench) -> Bench:
    """A bench whose run has two shots."""
    bench.folder.update(ceiling_shots=2)
    return bench


def rate(value: float) -> dict[str, float]:
    return {"bytes": value, "elapsed_s": 1.0, "bytes_per_s": value, "retransmits": 0}


def names(bench: Bench) -> list[str]:
    """The ids of all trials, in the order in which they were recorded."""
    return list(bench.trials())


@pytest.mark.parametrize("anchors", [0, 2])
def test_each_network_of_a_block_is_measured_before_its_first_and_after_its_last_trial(
    twice: Bench, anchors: int
) -> None:
    twice.runner(SMALL.model_copy(update={"anchors": anchors})).run()
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


def test_a_run_that_was_torn_before_a_second_shot_takes_it_and_nothing_else(twice: Bench) -> None:
    usual = twice.link

    def tear(direction: str) -> dict[str, float]:
        if len(twice.ceilings) == 7:  # of the last network, when all trials are there
            raise Interrupted("stopped by SIGTERM")
        return usual(direction)

    twice.link = tear
    with pytest.raises(Interrupted):
        twice.runner(ONE).run()
    twice.world.settings.unwind()
    twice.session.layers = Layers(twice.world.settings)
    twice.link = usual
    before = names(twice)
    assert before[-1] == "b002-0002"
    twice.transfers.clear()
    twice.runner(ONE).run()
    ways = ("write", "read")
    assert names(twice) == [*before, *(f"b002-link-mtu1500-tcpdefault-{way}-after" for way in ways)]
    assert twice.transfers == []
    twice.runner(ONE).run()
    assert len(names(twice)) == len(before) + 2


def test_a_run_with_one_shot_is_resumed_with_one(bench: Bench) -> None:
    def stop(trial_id: str) -> TransferResult:
        if trial_id == "b002-0001":
            raise Interrupted("stopped by SIGTERM")
        return measured()

    bench.outcome = stop
    with pytest.raises(Interrupted):
        bench.runner(ONE).run()
    bench.outcome = lambda _: measured()
    bench.runner(ONE).run()
    assert len(bench.ceilings) == 4
    assert not [name for name in names(bench) if name.endswith("-after")]


def test_a_second_shot_of_less_than_half_of_the_first_is_void_and_taken_again(twice: Bench) -> None:
    # before (write, read), after (write, read): the third one is cut
    twice.link = lambda _: rate(20e6 if len(twice.ceilings) == 3 else 90e6)
    assert twice.runner(sweep_of(blocks=1, protocol=["smb"])).run().not_ok == 0
    void = [trial for trial in twice.trials().values() if trial.status == "void"]
    assert [(trial.trial_id, trial.reason) for trial in void] == [
        (
            "b001-link-mtu1500-tcpdefault-write-after-void",
            "20.0 MB/s, less than half of its twin's 90.0: measured again, 90.0",
        )
    ]
    assert twice.trials()["b001-link-mtu1500-tcpdefault-write-after"].size_bytes == 90e6


def test_a_second_shot_in_which_the_carrier_changed_is_void_and_taken_again(twice: Bench) -> None:
    def cut_once(direction: str) -> dict[str, float]:
        if len(twice.ceilings) == 4:
            twice.carrier_changes["client"] = 3
        return rate(90e6)

    twice.link = cut_once
    assert twice.runner(sweep_of(blocks=1, protocol=["smb"])).run().not_ok == 0
    void = {trial.trial_id: trial.reason for trial in twice.trials().values() if trial.status == "void"}
    assert void == {
        "b001-link-mtu1500-tcpdefault-read-after-void": "an outage: 2 carrier changes on the client",
    }


def test_the_larger_shot_is_the_ceiling_of_the_trials_between(twice: Bench) -> None:
    # write: 100, then 120 MB/s; read: 80, then 60
    rates = iter([100e6, 80e6, 120e6, 60e6])
    twice.link = lambda _: rate(next(rates))
    twice.runner(sweep_of(blocks=1, protocol=["smb"])).run()
    assert {trial.ceiling_bytes_per_s for trial in twice.transferred().values()} == {100e6, 80e6}
    frame = run_folder.load(twice.folder.path).set_index("trial_id")
    moved = frame[frame["protocol"] == "smb"].set_index("direction")
    assert dict(moved["ceiling_bytes_per_s"]) == {"write": 120e6, "read": 80e6}
    assert dict(moved["share_of_ceiling"]) == pytest.approx(dict(moved["bytes_per_s"] / moved["ceiling_bytes_per_s"]))
    links = frame[frame["protocol"] == "link"]
    assert sorted(links["share_of_ceiling"]) == [60 / 80, 100 / 120, 1.0, 1.0]


def test_a_shot_that_is_void_or_of_another_block_is_no_ceiling(twice: Bench) -> None:
    # of block 1: before (write, read) and after; then the same of block 2, where the first write is cut
    rates = iter([50e6, 50e6, 55e6, 50e6, 20e6, 90e6, 95e6, 90e6, 90e6])
    twice.link = lambda _: rate(next(rates))
    twice.runner(sweep_of(blocks=2, protocol=["smb"], direction=["write"])).run()
    frame = run_folder.load(twice.folder.path)
    moved = frame[frame["protocol"] == "smb"].set_index("block")
    assert dict(moved["ceiling_bytes_per_s"]) == {1: 55e6, 2: 95e6}
    assert list(frame.loc[frame["status"] == "void", "MB_per_s"]) == [20.0]


@pytest.mark.parametrize("mtu", [1500, 9000])
def test_a_second_shot_that_is_not_possible_is_a_failed_trial_and_the_sweep_goes_on(twice: Bench, mtu: int) -> None:
    set_up, first = twice.session.set_up_network, f"b001-link-mtu{mtu}-tcpdefault"

    def set_up_network(case: Case) -> None:
        if case.mtu == mtu and f"{first}-read" in twice.trials() and f"{first}-write-after" not in twice.trials():
            raise LabFailure("the MTU is lost")
        set_up(case)

    twice.session.set_up_network = set_up_network
    assert twice.runner(SMALL).run().not_ok == 2
    failed = [trial for trial in twice.trials().values() if trial.status == "failed"]
    assert {trial.trial_id: trial.reason for trial in failed} == {
        f"{first}-{way}-after": "the MTU is lost" for way in ("write", "read")
    }
    assert len(twice.transfers) == 16


def test_a_second_shot_after_which_a_setting_stays_changed_ends_the_sweep(twice: Bench) -> None:
    set_up = twice.session.set_up_network

    def set_up_network(case: Case) -> None:
        if "b001-0002" in twice.trials():
            raise RestoreError(["MTU should be 1500"])
        set_up(case)

    twice.session.set_up_network = set_up_network
    with pytest.raises(RestoreError):
        twice.runner(ONE).run()
    assert names(twice)[-1] == "b001-0002"
