"""Options of a tool as factors: the cases and plans they make, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.sweeps import cases_of, sweep_of

from lab.base.errors import BadInput
from lab.design import plan_text
from lab.design.factors import can_be_combined, chooser_of
from lab.design.plan import plan
from lab.run.case.catalogue import CATALOGUE

BLOCKS: dict[str, Any] = {"tool": ["cp", "dd"], "dd": {"bs": ["4 KiB", "1 MiB"]}, "direction": ["write"]}


def test_an_option_multiplies_the_cases_of_its_own_tool_only() -> None:
    made, _ = cases_of(sweep_of(protocol=["smb", "nfs"], smb={"signing": [True, False]}, **BLOCKS), CATALOGUE)
    assert [(case.protocol, case.tool) for case in made] == [
        *[("smb", "cp")] * 2, *[("smb", "dd")] * 4, ("nfs", "cp"), *[("nfs", "dd")] * 2
    ]  # fmt: skip
    assert (made[2].mount_options, made[2].tool_options) == ({"signing": "true"}, {"bs": "4 KiB"})
    assert (made[0].mount_options, made[0].tool_options) == ({"signing": "true"}, {})
    assert made[-1].case_id.endswith("-dd.bs=1 MiB")
    assert len({case.case_id for case in made}) == 9


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        (
            {"tool": ["cp"], "dd": {"bs": ["4 KiB"]}},
            "dd.bs: dd is no tool of this sweep, which has cp",
        ),
        ({"tool": ["cp"], "cp": {"bs": ["4 KiB"]}}, "cp.bs: unknown: cp has no options"),
        ({"tool": ["dd"], "dd": {"bz": ["4 KiB"]}}, "dd.bz: unknown: dd has bs"),
        ({"tool": ["dd"], "dd": {"bs": ["4 KiB", 4096]}}, "dd.bs: has a level twice"),
        ({"tool": ["dd"], "dd": {"bs": [1000]}}, 'dd.bs: is not "default" or a multiple of 512 B from 512 B to 1 GiB'),
    ],
)
def test_what_no_option_can_be_is_refused_with_what_is_right(factors: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        cases_of(sweep_of(**factors), CATALOGUE)
    assert f"[factors] {message}" in str(refused.value)


def test_too_many_trials_are_counted_with_the_options_of_tools() -> None:
    levels = [512 << power for power in range(12)]
    with pytest.raises(ValueError, match=r"more than 100000.*dd.bs 12"):
        sweep_of(protocol=["smb", "nfs"], tool=["cp", "dd"], dd={"bs": levels}, mtu=[*range(1500, 3500)], blocks=1)


def test_an_option_of_a_tool_acts_together_with_protocols_and_their_options() -> None:
    factors = BLOCKS | {"protocol": ["smb", "nfs"], "smb": {"signing": [True, False]}}
    made = plan(sweep_of(**factors), CATALOGUE)
    assert [(effect.name, effect.least_pairs) for effect in made.effects] == [
        ("protocol", 3), ("tool", 3), ("smb.signing", 3), ("dd.bs", 3),
    ]  # fmt: skip
    assert not [line for line in made.cannot_tell if "as a whole" in line]
    assert re.search(r"dd\.bs +4 KiB, 1 MiB", "\n".join(plan_text.describe(sweep_of(**factors), made)))


@pytest.mark.parametrize(
    ("first", "second", "can"),
    [
        ("dd.bs", "protocol", True),
        ("dd.bs", "smb.signing", True),
        ("smb.signing", "tool", True),
        ("dd.bs", "mtu", True),
        ("dd.bs", "dd.count", True),
        ("dd.bs", "tool", False),
        ("dd.bs", "fio.jobs", False),
        ("smb.signing", "protocol", False),
        ("smb.signing", "nfs.version", False),
        ("ext4.data", "dd.bs", True),
        ("ext4.data", "smb.signing", True),
        ("ext4.data", "protocol", True),
        ("ext4.data", "store", False),
        ("ext4.data", "btrfs.compress", False),
    ],
)
def test_what_can_be_combined(first: str, second: str, can: bool) -> None:
    levels = {"tool": ("cp", "dd", "fio"), "store": ("ram", "ext4", "btrfs")}
    assert can_be_combined(first, second, levels) is can
    assert can_be_combined(second, first, levels) is can


def test_the_owner_of_an_option_decides_which_factor_brings_it() -> None:
    levels = {"tool": ["dd"], "store": ["ext4"]}
    names = ("dd.bs", "ext4.data", "smb.signing", "mtu")
    assert [chooser_of(name, levels) for name in names] == ["tool", "store", "protocol", ""]
