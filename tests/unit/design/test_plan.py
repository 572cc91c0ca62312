"""The design of a sweep: what is left out, fractions, anchors, and what cannot be."""

import itertools
import json
from collections import Counter
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from support.examples import at_most
from support.sweeps import cases_of, runs, some, sweep_of, sweep_with

from lab import protocols, workloads
from lab.base.errors import BadInput
from lab.design import fraction
from lab.design.blocks import Slot, anchor_gaps, block_slots, order
from lab.design.effects import levels_of, varied_factors
from lab.design.factors import OPTIONS
from lab.design.grid import grid_of
from lab.design.pace import FILE_S
from lab.design.plan import Plan, plan
from lab.design.sweep_file import Sweep
from lab.run.case.catalogue import CATALOGUE

SWEEPS = st.builds(
    lambda blocks, seed, anchors, share, **factors: sweep_with(
        blocks=blocks, seed=seed, anchors=anchors, fraction=share, factors=factors
    ),
    blocks=st.integers(1, 3), seed=st.integers(0, 1 << 40), anchors=st.integers(0, 6),
    share=st.sampled_from([0.3, "1/2", 1]), protocol=some("afp", "smb", "ssh"),
    tool=st.sampled_from([["rsync"], ["cp", "rsync"], ["rsync", "cp"]]), direction=some("write", "read"),
    mtu=some(1500, 4000, 9000), tcp_space=some("default", 65536), store=some("ram", "disk"),
    client_sync=some("fsync", "close"), server_cache=st.sampled_from([["warm"], ["warm", "cold"], ["cold", "warm"]]),
)  # fmt: skip


def planned(sweep: Sweep) -> Plan:
    """Its plan; what cannot be planned, for its cases are too few, is no example."""
    try:
        return plan(sweep, CATALOGUE)
    except BadInput as error:
        if "cannot keep the main effects apart" not in str(error) and "do not fit between" not in str(error):
            raise
        return reject()


# --- what is left out


def test_a_cold_server_is_asked_for_where_it_can_be_cold() -> None:
    cases, left_out = cases_of(sweep_with(factors={"store": ["ram", "disk"], "server_cache": ["warm", "cold"]}))
    cold = {(case.direction, case.store) for case in cases if case.option("server_cache") == "cold"}
    assert cold == {("read", "disk")}
    assert len(cases) == 5
    assert left_out == (
        "write with server_cache cold: a write reads nothing that could be in the cache",
        "store ram with server_cache cold: there is no disk below the cache",
    )


def test_a_write_that_no_client_flushes_is_one_case() -> None:
    for levels in (["close", "fsync"], ["fsync", "close"]):
        cases, left_out = cases_of(sweep_with(factors={"protocol": ["ssh"], "tool": ["rsync"], "client_sync": levels}))
        writes = [case.option("client_sync") for case in cases if case.direction == "write"]
        reads = [case.option("client_sync") for case in cases if case.direction == "read"]
        assert (writes, reads) == (levels[:1], levels)
        message = f"ssh write with client_sync {levels[1]}: the client flushes nothing of it either way"
        assert left_out == (message,)


def test_a_tree_is_for_tools_that_copy_folders_and_is_planned_by_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = {"kind": "tree", "profile": "mail", "size": "16 MiB"}
    sweep = sweep_with(workload=tree, factors={"tool": ["cp", "rsync"], "direction": ["write"]})
    cases, _ = cases_of(sweep)
    assert {(case.workload, case.size_bytes, case.files) for case in cases} == {("tree mail", 16 << 20, 998)}
    assert cases[0].case_id == "smb-cp-write-ram-mtu1500-tcpdefault"
    whole = sweep_with(workload={"size": "16 MiB"}, factors={"tool": ["cp", "rsync"], "direction": ["write"]})
    assert plan(sweep, CATALOGUE).estimated_s > plan(whole, CATALOGUE).estimated_s + 1.9 * 997 * FILE_S
    again = sweep_with(workload=tree | {"changed": 0.01}, factors={"tool": ["cp", "rsync"], "direction": ["write"]})
    assert {(case.size_bytes < 1 << 20, case.files) for case in cases_of(again)[0]} == {(True, 998)}
    monkeypatch.setattr(type(workloads.tool("cp")), "folder_options", None)
    cases, left_out = cases_of(sweep)
    assert {case.tool for case in cases} == {"rsync"}
    assert left_out == ("cp: it copies single files, and a tree is a folder of them",)


def test_a_durability_that_a_protocol_has_not_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(protocols.find("smb")), "server_syncs", ("default", "sync"))
    monkeypatch.setitem(vars(protocols.find("nfs")), "server_syncs", ("default",))
    sweep = sweep_with(factors={"protocol": ["smb", "nfs"], "server_sync": ["default", "sync", "always"]})
    cases, left_out = cases_of(sweep)
    assert {(case.protocol, case.option("server_sync")) for case in cases} == {
        ("smb", "default"), ("smb", "sync"), ("nfs", "default"),
    }  # fmt: skip
    assert left_out == (
        "smb with server_sync always: smb has default, sync only",
        "nfs with server_sync sync: nfs has default only",
        "nfs with server_sync always: nfs has default only",
    )


def test_a_sweep_that_says_nothing_of_the_options_has_the_cases_and_names_that_it_had() -> None:
    cases, left_out = cases_of(sweep_of(protocol=["smb", "ssh"], tool=["rsync"], store=["ram", "disk"]))
    assert {case.options for case in cases} == {tuple(OPTIONS.items())}
    assert (len(cases), left_out) == (8, ())
    case = cases_of(sweep_with())[0][0]
    assert (Slot(1, 2, case).trial_id, Slot(1, 2, case, anchor=True).trial_id) == ("b001-0002", "b001-a0002")


# --- the order, with fractions and anchors


@given(SWEEPS)
@at_most(60)
def test_every_case_is_once_in_each_block_beside_the_anchors(sweep: Sweep) -> None:
    made = planned(sweep)
    counts = Counter((slot.block, slot.case) for slot in made.slots if not slot.anchor)
    assert counts == Counter(itertools.product(range(1, sweep.blocks + 1), made.cases))
    assert len({case.case_id for case in made.cases}) == len(made.cases)
    assert len({slot.trial_id for slot in made.slots}) == len(made.slots)
    for _, group in itertools.groupby(made.slots, lambda slot: slot.block):
        slots = list(group)
        assert [slot.position for slot in slots] == list(range(1, len(slots) + 1))
        anchors = [slot for slot in slots if slot.anchor]
        assert len(anchors) == sweep.anchors
        assert {slot.case for slot in anchors} <= {made.cases[0]}
        assert not anchors or slots[0].anchor
        assert len(anchors) < 2 or slots[-1].anchor
        ordered = [slot.case for slot in slots if not slot.anchor]
        assert ordered == order(made.cases, sweep.seed, slots[0].block)
        assert len(runs(ordered, lambda case: case.mtu)) == made.strata[0].groups
        assert len(runs(ordered, lambda case: (case.mtu, case.tcp_space))) == made.strata[1].groups


@given(SWEEPS)
@at_most(20)
def test_a_plan_is_the_same_every_time_and_its_blocks_can_be_made_one_by_one(sweep: Sweep) -> None:
    made = planned(sweep)
    assert made == plan(sweep, CATALOGUE)
    one_by_one = [block_slots(sweep, made.cases, block) for block in range(sweep.blocks, 0, -1)]
    assert list(made.slots) == [slot for block in reversed(one_by_one) for slot in block]
    written = json.loads(json.dumps(asdict(made), allow_nan=False))
    assert [slot["case"]["mtu"] for slot in written["slots"]] == [slot.case.mtu for slot in made.slots]


@given(SWEEPS)
@at_most(6)
def test_a_fraction_is_of_the_grid_and_keeps_what_it_does_not_deny(sweep: Sweep) -> None:
    made, (grid, _) = planned(sweep), grid_of(sweep, CATALOGUE)
    assert len(made.cases) == sweep.runs_of(len(grid))
    assert [case for case in grid if case in set(made.cases)] == list(made.cases)
    assert made.cases[0] == grid[0]
    levels = levels_of(grid)
    chosen = [grid.index(case) for case in made.cases]
    assert set(fraction.not_estimable(levels, chosen)) <= {line.split(" ")[0] for line in made.cannot_tell}
    assert varied_factors(levels_of(made.cases)) == varied_factors(levels)


@pytest.mark.parametrize(
    ("count", "gaps"),
    [(0, []), (1, [0]), (2, [0, 8]), (3, [0, 3, 8]), (4, [0, 3, 6, 8]), (5, [0, 2, 4, 6, 8]), (9, list(range(9)))],
)
def test_anchors_stand_at_the_ends_and_where_the_mtu_changes_anyway(count: int, gaps: list[int]) -> None:
    mtus = (1500, 1500, 1500, 9000, 9000, 9000, 4000, 4000)
    known = {case.mtu: case for case in cases_of(sweep_with(factors={"mtu": [1500, 4000, 9000]}))[0]}
    assert anchor_gaps([known[mtu] for mtu in mtus], count) == gaps


def test_anchors_cost_what_they_move() -> None:
    without, with_anchors = plan(sweep_with(blocks=3), CATALOGUE), plan(sweep_with(blocks=3, anchors=2), CATALOGUE)
    assert len(with_anchors.slots) == len(without.slots) + 6
    assert with_anchors.bytes_moved == without.bytes_moved + (6 << 20)
    assert with_anchors.estimated_s > without.estimated_s


MTUS, NETWORKS = {"mtu": [1500, 9000]}, {"mtu": [1500, 9000], "tcp_space": ["default", 65536]}
PRECISE = {"precision": 0.03, "blocks": 10}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"anchors": 4}, r"^anchors: 4 do not fit between 2 cases: give at most 3"),
        ({"fraction": 0.2, "factors": NETWORKS},
         r'^fraction: 2 of 8 cases cannot keep the main effects apart: give at least fraction = "4/8"'),
        ({"fraction": 0.2, "factors": {"mtu": list(range(1000, 1100)), "tcp_space": list(range(1000, 1010))}},
         r"^\[factors\]: more than 1,000 cases: give fewer levels"),
        ({"factors": {"mtu": list(range(1000, 1101))}},
         r"^\[factors\] mtu: 101 levels: at most 100: give fewer of them"),
        ({"effects": ["mtu"]}, r"^effects: 'mtu' is no effect of what varies in this sweep: .* here is direction$"),
        ({"effects": ["colour"], "factors": MTUS},
         r"'colour' is no effect .* here is direction, mtu, and two of them such as direction:mtu"),
        ({"effects": ["mtu:mtu"], "factors": MTUS}, r"'mtu:mtu' is no effect"),
        ({"effects": ["mtu:mtu:direction"], "factors": MTUS}, r"is no effect"),
        ({"effects": ["direction:mtu", "mtu:direction"], "factors": MTUS},
         r"effects: direction:mtu: the list has an effect twice"),
        ({"effects": ["mtu"], "factors": {"direction": ["read"]}}, r"what varies in this sweep: give a factor two"),
        (PRECISE, r"^precision: of nothing: give a factor two levels"),
        (PRECISE | {"fraction": 0.5, "effects": ["direction:mtu"], "factors": NETWORKS},
         r"^effects: direction:mtu cannot be told from other effects in these cases.* a larger fraction"),
        (PRECISE | {"effects": ["protocol:tool"], "factors": {"protocol": ["smb", "ssh"], "tool": ["cp", "rsync"]}},
         r"^effects: protocol:tool cannot be told"),
    ],
)  # fmt: skip
def test_a_design_that_cannot_be_is_explained(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plan(sweep_with(**changes), CATALOGUE)


def test_the_least_fraction_that_is_named_works() -> None:
    factors = {"protocol": ["smb", "nfs", "ssh"], "tool": ["cp", "rsync"], "mtu": [1500, 9000]}
    with pytest.raises(BadInput) as refused:
        plan(sweep_with(fraction=0.01, factors=factors), CATALOGUE)
    least = str(refused.value).rsplit('"', 2)[1]
    assert least == "6/20"
    assert len(plan(sweep_with(fraction=least, factors=factors), CATALOGUE).cases) == 6
