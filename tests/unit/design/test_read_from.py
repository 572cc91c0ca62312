"""Who has written what a client reads, as a factor: which cases there are, how they are named, and what they take."""

from typing import Any

import pytest
from support.sweeps import cases_of, sweep_with

from lab.base.errors import BadInput
from lab.design.plan import plan
from lab.run.case.catalogue import CATALOGUE

LEVELS = ["default", "own", "other"]


def levels_of(**factors: Any) -> tuple[set[tuple[str, ...]], tuple[str, ...]]:
    """Direction, clients and level of each case, and why others are missing."""
    cases, left_out = cases_of(sweep_with(factors={"read_from": LEVELS} | factors))
    return {(case.direction, case.option("clients"), case.option("read_from")) for case in cases}, left_out


def test_it_is_of_reads_and_another_client_takes_two() -> None:
    cases, left_out = levels_of(protocol=["smb"], tool=["cp"], clients=[1, 2])
    assert cases == {
        ("write", "1", "default"), ("write", "2", "default"), ("read", "1", "default"), ("read", "2", "default"),
        ("read", "1", "own"), ("read", "2", "own"), ("read", "2", "other"),
    }  # fmt: skip
    assert left_out == (
        "write with read_from own: a write reads nothing that a client could have written",
        "write with read_from other: a write reads nothing that a client could have written",
        "1 client with read_from other: there is no other client",
    )
    with pytest.raises(BadInput, match="no case is left: 1 client with read_from other: there is no other client"):
        cases_of(sweep_with(factors={"direction": ["read"], "read_from": ["other"]}))


def test_what_no_client_can_have_written_is_left_out() -> None:
    cases, left_out = levels_of(protocol=["ssh"], tool=["rsync"], direction=["read"], clients=[2])
    assert cases == {("read", "2", "default")}
    reason = "no client has a mount to write through"
    assert left_out == tuple(f"ssh with read_from {level}: {reason}" for level in LEVELS[1:])
    tree = {"kind": "tree", "profile": "mail", "size": "1 MiB"}
    names: dict[str, Any] = {"tool": ["metadata"], "metadata": {"phase": ["list"]}, "read_from": ["default", "own"]}
    made, reasons = cases_of(sweep_with(workload=tree, factors={"direction": ["read"], **names}))
    assert [case.option("read_from") for case in made] == ["default"]
    assert reasons == ("metadata with read_from own: it reads nothing of what is in files",)
    factors = {"tool": ["rsync"], "direction": ["read"], "read_from": ["default", "own"]}
    made, reasons = cases_of(sweep_with(workload=tree | {"changed": 0.1}, factors=factors))
    assert [case.option("read_from") for case in made] == ["default"]
    assert reasons == ("a second copy with read_from own: the first copy and the changes are the server's",)


@pytest.mark.parametrize("tool", ["fio", "frames"])
def test_tools_that_measure_by_themselves_read_what_lay_there(tool: str) -> None:
    cases, _ = levels_of(protocol=["smb"], tool=[tool], direction=["read"])
    assert cases == {("read", "1", "default"), ("read", "1", "own")}


def test_the_name_of_a_case_has_it_where_it_is_unusual_only() -> None:
    cases, _ = cases_of(sweep_with(factors={"direction": ["read"], "clients": [2], "read_from": LEVELS}))
    plain = "smb-cp-read-ram-mtu1500-tcpdefault-clients=2"
    assert [case.case_id for case in cases] == [plain, f"{plain}-read_from=own", f"{plain}-read_from=other"]
    assert [case.is_laid_by_client for case in cases] == [False, True, True]


def test_what_is_written_before_takes_as_long_as_reading_it() -> None:
    def seconds(level: str) -> float:
        factors = {"direction": ["read"], "clients": [2], "read_from": [level]}
        return plan(sweep_with(blocks=1, workload={"size": "6 GB"}, factors=factors), CATALOGUE).estimated_s

    assert seconds("other") == pytest.approx(seconds("own"))
    assert seconds("own") - seconds("default") == pytest.approx(2 * 6e9 / 60e6)
