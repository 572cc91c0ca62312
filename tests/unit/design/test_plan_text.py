"""What a plan says of a sweep: its effects, what it can tell and what not, and what comes first."""

import re

from support.sweeps import sweep_with

from lab.design import plan_text
from lab.design.plan import plan
from lab.design.sweep_file import Sweep
from lab.run.case.catalogue import CATALOGUE


def test_effects_are_those_that_are_asked_for_with_their_pairs() -> None:
    factors = {"protocol": ["smb", "nfs", "ssh"], "tool": ["cp", "rsync"], "mtu": [1500, 9000]}
    effects = plan(sweep_with(factors=factors), CATALOGUE).effects
    assert [(effect.name, effect.least_pairs, effect.most_pairs) for effect in effects] == [
        ("protocol", 4, 8), ("tool", 8, 8), ("mtu", 10, 10),
    ]  # fmt: skip
    effects = plan(sweep_with(factors=factors, effects=["mtu:tool", "direction"]), CATALOGUE).effects
    assert [(effect.name, effect.least_pairs) for effect in effects] == [("tool:mtu", 4), ("direction", 10)]


def describe(sweep: Sweep) -> str:
    return "\n".join(plan_text.describe(sweep, plan(sweep, CATALOGUE)))


def test_a_plan_says_what_it_can_and_cannot_tell() -> None:
    text = describe(sweep_with(blocks=6, anchors=2, factors={"protocol": ["smb", "ssh"], "tool": ["cp", "rsync"]}))
    assert text.startswith("6 cases, 48 trials, 0.1 GB to move\n")
    assert "  6 randomised complete blocks (seed 1)\n  whole plot   mtu (1 a block)\n" in text
    assert "  anchors      2 a block: smb-cp-write-ram-mtu1500-tcpdefault\n" in text
    assert "  protocol     from 2 pairs a block\n" in text
    assert "  after 6 blocks: ± 1.05 × the spread of its ratio over blocks: a spread of 2 % gives ± 2.1 %\n" in text
    assert "it cannot tell:\n  what has one level only: mtu 1500, tcp_space default, store ram, server_sync" in text
    assert "  protocol:tool as a whole: there is no ssh with cp\n" in text


def test_a_plan_says_which_level_comes_first_how_often_and_counts_no_anchors() -> None:
    sweep = sweep_with(blocks=3, factors={"mtu": [1500, 9000], "tcp_space": ["default", 65536]})
    text, planned = describe(sweep), plan(sweep, CATALOGUE)
    mtus = [next(slot.case.mtu for slot in planned.slots if slot.block == block) for block in (1, 2, 3)]
    usual = max(set(mtus), key=mtus.count)
    assert mtus.count(usual) == 2
    assert f"  MTU {usual} first in 2 of 3 blocks\n" in text
    assert re.search(r"\n  TCP buffer (default|64 KiB) first in [3-6] of 6 whole plots\n", text)
    assert "  each second block has the order of the one before it backwards\n" in text
    factors = {"mtu": [1500, 9000]}
    without, anchored = (plan(sweep_with(blocks=4, anchors=count, factors=factors), CATALOGUE) for count in (0, 2))
    assert without.first == anchored.first


def test_names_of_any_length_stand_in_one_column_and_one_block_promises_no_interval() -> None:
    factors = {"protocol": ["nfs"], "store": ["zfs"], "zfs": {"recordsize": ["8 KiB", "1 MiB"]}}
    text = describe(sweep_with(factors=factors))
    assert "  direction      write, read\n  zfs.recordsize 8 KiB, 1 MiB\n" in text
    text = describe(sweep_with(blocks=1, factors={"mtu": [1500, 9000]}))
    assert "it can tell" not in text
    assert "  any interval: too few blocks to know their spread; give blocks = 3 or more\n" in text


def test_a_plan_with_a_precision_gives_ranges() -> None:
    text = describe(sweep_with(blocks=10, precision=0.03, factors={"mtu": [1500, 9000]}))
    assert text.startswith("4 cases, 40 to 400 trials, 0.0 to 0.4 GB to move\n")
    assert "  10 to 100 randomised complete blocks (seed 1), until every interval is within ± 3 %\n" in text
    assert "after 10 blocks: ± 0.72 ×" in text
    assert "after 100 blocks: ± 0.20 ×" in text
    assert "  ± 3 % cannot be reached where that spread is more than 15.1 %\n" in text
    assert "mtu 20 to 200," in text


def test_a_plan_names_what_a_fraction_mixes_up() -> None:
    factors = {"mtu": [1500, 9000], "tcp_space": ["default", 65536], "store": ["ram", "disk"]}
    text = describe(sweep_with(fraction=0.5, factors=factors))
    assert "  fraction: 8 of 16 cases, the same in each block, D-optimal\n" in text
    assert "  direction:mtu from tcp_space:store (1.00)\n" in text
    assert "  mtu          by a fit to all cases: no pairs differ in it alone\n" in text
    factors["placebo"] = ["none", "again"]
    text = describe(sweep_with(fraction=0.5, factors=factors))
    assert "16 of 32 cases, the same in each block, D-optimal; D-efficiency 1.00 of the whole grid's\n" in text
    assert " from direction:" not in text
