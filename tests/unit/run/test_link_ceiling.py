"""The link by itself: once a block and network, in both directions."""

import pytest
from support.runner_bench import RATES, Bench
from support.sweeps import sweep_of
from support.synthetic_runs import trial

from lab.design.blocks import Slot
from lab.design.case import Case
from lab.design.factors import Direction
from lab.run.ceilings import link_ceiling


def case(protocol: str, mtu: int) -> Case:
    return Case(protocol, "cp", Direction.READ, mtu, 65536, "ram", "file", 4096)


def test_cases_on_one_network_share_their_ceilings_within_a_block() -> None:
    first = link_ceiling.ids(Slot(2, 1, case("smb", 1500)))
    assert first == {"write": "b002-link-mtu1500-tcp65536-write", "read": "b002-link-mtu1500-tcp65536-read"}
    assert link_ceiling.ids(Slot(2, 7, case("nfs", 1500))) == first
    assert not set(link_ceiling.ids(Slot(2, 7, case("smb", 9000))).values()) & set(first.values())
    assert not set(link_ceiling.ids(Slot(3, 1, case("smb", 1500))).values()) & set(first.values())


def test_only_a_good_measurement_has_a_rate() -> None:
    assert link_ceiling.rate(trial(protocol="link", size_bytes=1000, elapsed_s=0.5)) == 2000
    assert link_ceiling.rate(trial(protocol="link", size_bytes=1000, elapsed_s=0.5, status="failed")) is None
    assert link_ceiling.rate(None) is None


def links(bench: Bench) -> dict[str, tuple[str, int]]:
    """Status and MB/s of each ceiling of the bench's run, by what its id adds to block and network."""
    trials = [trial for trial in bench.trials().values() if trial.protocol == "link" and trial.mtu == 1500]
    return {trial.trial_id.replace("-link-mtu1500-tcpdefault", ""): (trial.status, trial.size_bytes // 10**6)
            for trial in trials}  # fmt: skip


@pytest.mark.parametrize("tested", [3, 7], ids=["the first block", "a later block"])
def test_a_ceiling_in_which_the_carrier_changed_is_void_and_measured_again(bench: Bench, tested: int) -> None:
    usual = bench.link

    def cut_once(direction: str) -> dict[str, float]:
        if len(bench.ceilings) == tested:
            bench.carrier_changes["client"] = 3
        return usual(direction)

    bench.link = cut_once
    ending = bench.runner(sweep_of(blocks=4, protocol=["smb"])).run()
    void = [trial for trial in bench.trials().values() if trial.status == "void"]
    assert [trial.reason for trial in void] == ["an outage: 2 carrier changes on the client"]
    assert links(bench)[f"b00{(tested + 1) // 2}-write-void"] == ("void", 100)
    assert links(bench)[f"b00{(tested + 1) // 2}-write"] == ("ok", 100)
    assert (ending.not_ok, len(bench.ceilings), len(void)) == (0, 9, 1)
    assert {trial.ceiling_bytes_per_s for trial in bench.transferred().values()} <= set(RATES.values())


@pytest.mark.parametrize(("number", "name"), [(1, "b001-write"), (2, "b001-read"), (5, "b003-write"), (6, "b003-read")])
def test_a_ceiling_of_less_than_half_of_its_twin_is_void_and_measured_again(
    bench: Bench, number: int, name: str
) -> None:
    def slow_once(direction: str) -> dict[str, float]:
        rate = 20e6 if len(bench.ceilings) == number else 90e6
        return {"bytes": rate, "elapsed_s": 1.0, "bytes_per_s": rate, "retransmits": 0}

    bench.link = slow_once
    bench.runner(sweep_of(blocks=3, protocol=["smb"])).run()
    assert links(bench)[f"{name}-void"] == ("void", 20)
    assert links(bench)[name] == ("ok", 90)
    reasons = [trial.reason for trial in bench.trials().values() if trial.status == "void"]
    assert reasons == ["20.0 MB/s, less than half of its twin's 90.0: measured again, 90.0"]
    assert {trial.ceiling_bytes_per_s for trial in bench.transferred().values()} == {90e6}


def test_a_link_that_is_slower_one_way_is_believed_once_it_says_so_twice(bench: Bench) -> None:
    rates = {"write": 90e6, "read": 20e6}
    bench.link = lambda way: {"bytes": rates[way], "elapsed_s": 1.0, "bytes_per_s": rates[way], "retransmits": 0}
    ending = bench.runner(sweep_of(blocks=2, protocol=["smb"])).run()
    assert ending.not_ok == 0
    assert links(bench) == {
        "b001-write": ("ok", 90), "b001-read": ("ok", 20), "b001-read-again": ("ok", 20),
        "b002-write": ("ok", 90), "b002-read": ("ok", 20),
    }  # fmt: skip
