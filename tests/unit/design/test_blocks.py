"""From a sweep file to its order: every case once a block, what is expensive slowest, and nothing left to chance."""

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most
from support.sweeps import SWEEPS, cases_of, runs, sweep_of

from lab.base.errors import BadInput
from lab.design.blocks import Ordering, order
from lab.design.case import Case
from lab.design.pace import ASSUMED_BYTES_PER_S
from lab.design.plan import plan
from lab.design.sweep_file import Sweep, parse_sweep
from lab.run.case.catalogue import CATALOGUE


def test_cases_are_the_product_of_the_levels_without_what_cannot_be_combined() -> None:
    cases, left_out = cases_of(sweep_of(mtu=[1500, 9000], tool=["cp", "rsync"], tcp_space=["default", "64 KiB"]))
    assert len(cases) == len(set(cases)) == 16
    assert left_out == ()
    assert {case.tcp_space for case in cases} == {"default", 65536}
    facts = {(case.protocol, case.workload, case.size_bytes, case.store) for case in cases}
    assert facts == {("smb", "file", 1 << 20, "ram")}
    cases, left_out = cases_of(sweep_of(protocol=["ssh", "nfs"], tool=["cp", "rsync"]))
    assert {(case.protocol, case.tool) for case in cases} == {("ssh", "rsync"), ("nfs", "cp"), ("nfs", "rsync")}
    assert left_out == ("ssh with cp: cp needs a mounted share, ssh has none",)


@pytest.mark.parametrize(
    ("sweep", "message"),
    [
        (sweep_of(protocol=["smbb"]),
         r"^\[factors\] protocol: unknown protocol 'smbb'; known are .*\bssh\b.*; did you mean 'smb'\?"),
        (sweep_of(protocol=["SMB"]), r"did you mean 'smb'\?"),
        (sweep_of(protocol=["ssh", "x"], tool=["rsync"]), r"unknown protocol 'x'; known are [a-z, ]+$"),
        (sweep_of(tool=["scp"]), r"^\[factors\] tool: unknown tool 'scp'; known are .*\bcp\b.*\brsync\b"),
        (sweep_of(kind="files"), r"^\[workload\] kind: unknown workload kind 'files'; known are .*\bfile\b"),
        (sweep_of(protocol=["ssh"], tool=["cp"]),
         r"^\[factors\]: no case is left: ssh with cp: cp needs .*: give levels that go together$"),
    ],
)  # fmt: skip
def test_names_that_nobody_knows_are_bad_input(sweep: Sweep, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plan(sweep, CATALOGUE)


def test_names_that_nobody_knows_are_said_with_the_file() -> None:
    sweep = 'name = "a"\n[workload]\nsize = 1\n[factors]\nprotocol = ["NFS"]'
    with pytest.raises(BadInput, match=r"^my\.toml: \[factors\] protocol: unknown protocol 'NFS'"):
        plan(parse_sweep(sweep, Path("my.toml")), CATALOGUE)
    with pytest.raises(BadInput, match=r"^my\.toml: \[factors\]: no case is left"):
        plan(parse_sweep(sweep.replace("NFS", "ssh"), Path("my.toml")), CATALOGUE)


@given(SWEEPS, st.integers(1, 100))
@at_most(60)
def test_in_a_block_what_is_expensive_changes_least(sweep: Sweep, block: int) -> None:
    ordered = order(cases_of(sweep)[0], sweep.seed, block)
    mtus, buffers = (len(sweep.factors.of(name)) for name in ("mtu", "tcp_space"))
    assert len(runs(ordered, attrgetter("mtu"))) == mtus
    assert len(runs(ordered, attrgetter("mtu", "tcp_space"))) == mtus * buffers
    served = runs(ordered, attrgetter("mtu", "tcp_space", "protocol", "store"))
    assert len(served) == mtus * buffers * len({(case.protocol, case.store) for case in ordered})


@given(SWEEPS)
@at_most(30)
def test_the_plan_counts_what_will_be_changed(sweep: Sweep) -> None:
    planned = plan(sweep, CATALOGUE)
    mtus = tcp_spaces = servers = 0
    before: tuple[Any, ...] = ()
    for slot in planned.slots:
        now = (slot.block, slot.case.mtu, slot.case.tcp_space, (slot.case.protocol, slot.case.store))
        mtus += before[:2] != now[:2]
        tcp_spaces += before[:3] != now[:3]
        servers += before != now
        before = now
    assert planned.changes == {"mtu": mtus, "tcp_space": tcp_spaces, "server": servers}
    assert planned.bytes_moved == len(planned.slots) * sweep.workload.planned_size
    assert planned.estimated_s > planned.bytes_moved / ASSUMED_BYTES_PER_S


def names(cases: Sequence[Case]) -> str:
    return ", ".join(f"{case.mtu} {case.protocol} {case.direction}" for case in cases)


def test_the_order_of_a_seed_stays_and_a_run_from_before_the_mirror_keeps_its_own() -> None:
    """A run is resumed by the order that the seed gives: an update of the lab or of Python must not change it."""
    cases = cases_of(sweep_of(mtu=[1500, 9000], protocol=["smb", "nfs"]))[0]
    assert names(order(cases, seed=7, block=1)) == (
        "9000 nfs read, 9000 nfs write, 9000 smb write, 9000 smb read, "
        "1500 smb write, 1500 smb read, 1500 nfs write, 1500 nfs read"
    )
    assert order(cases, 7, 1, Ordering.INDEPENDENT) == order(cases, 7, 1)
    assert names(order(cases, 7, 2, Ordering.INDEPENDENT)) == (  # as the lab gave it in 2026-11
        "1500 smb write, 1500 smb read, 1500 nfs write, 1500 nfs read, "
        "9000 smb write, 9000 smb read, 9000 nfs read, 9000 nfs write"
    )


@given(SWEEPS, st.integers(1, 50))
@at_most(60)
def test_the_second_block_of_a_pair_is_the_first_one_backwards(sweep: Sweep, pair: int) -> None:
    cases = cases_of(sweep)[0]
    first, second = order(cases, sweep.seed, 2 * pair - 1), order(cases, sweep.seed, 2 * pair)
    assert second == first[::-1]
    for factors in (["mtu"], ["mtu", "tcp_space"], ["mtu", "tcp_space", "protocol", "store"]):
        key = attrgetter(*factors)
        assert runs(second, key) == runs(first, key)[::-1]


def test_each_level_comes_first_as_often_as_last_over_an_even_number_of_blocks() -> None:
    sweep = sweep_of(blocks=6, mtu=[1500, 9000], tcp_space=["default", 65536], protocol=["smb", "nfs"])
    firsts = {first.factor: first for first in plan(sweep, CATALOGUE).first}
    assert set(firsts) == {"mtu", "tcp_space", "protocol"}
    for name, within, groups in (("mtu", "block", 6), ("tcp_space", "whole plot", 12), ("protocol", "sub-plot", 24)):
        assert (firsts[name].within, firsts[name].groups) == (within, groups)
        assert set(firsts[name].times.values()) == {groups // 2}


def test_blocks_and_seeds_differ_at_every_level() -> None:
    cases = cases_of(sweep_of(mtu=[1500, 9000], tcp_space=["default", 65536], protocol=["afp", "smb", "nfs"]))[0]
    orders = [order(cases, seed, block) for seed in range(4) for block in range(1, 11)]
    assert len({tuple(cases) for cases in orders}) == len(orders)  # mirrors, too, are orders of their own
    for key in map(attrgetter, ("mtu", "tcp_space", "protocol", "direction")):
        assert len({key(cases[0]) for cases in orders}) == len({key(case) for case in cases})
