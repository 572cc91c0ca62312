"""Options of a protocol's mount as factors: the cases and plans they make, and what is refused."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest
from support.sweeps import cases_of, fraction_of_options, sweep_of, sweep_of_options

from lab.base.errors import BadInput
from lab.design import plan_text
from lab.design.factors import rank
from lab.design.grid import grid_of
from lab.design.plan import plan
from lab.run.case.catalogue import CATALOGUE


def test_an_option_multiplies_the_cases_of_its_own_protocol_only() -> None:
    wanted = sweep_of_options(
        smb={"dialect": ["2.1", "3.0", "default"], "signing": [True, False]}, nfs={"version": [3, 4.1]}
    )
    made, _ = cases_of(wanted, CATALOGUE)
    assert [case.protocol for case in made] == ["smb"] * 6 + ["nfs"] * 2
    named = [{name: level for name, level in case.options if "." in name} for case in made]
    assert named[1] == {"smb.dialect": "2.1", "smb.signing": "false"}
    assert named[-1] == {"nfs.version": "4.1"}
    assert made[4].mount_options == {"signing": "true"}
    assert made[1].case_id.endswith("-smb.dialect=2.1-smb.signing=false")
    assert len({case.case_id for case in made}) == 8


def test_a_case_that_asks_for_nothing_is_the_one_that_it_always_was() -> None:
    (asked, *_), _ = cases_of(sweep_of_options(smb={"dialect": ["default", "2.1"]}), CATALOGUE)
    (plain, *_), _ = cases_of(sweep_of_options(), CATALOGUE)
    assert (asked.case_id, asked.mount_options) == (plain.case_id, {})


@pytest.mark.parametrize(
    ("protocol", "option", "given", "levels"),
    [
        ("nfs", "version", [3, 4.0, "4.1", "default"], ["3", "4.0", "4.1", "default"]),
        ("smb", "dialect", [3.0, "3.1.1"], ["3.0", "3.1.1"]),
        ("nfs", "rsize", [65536, "1 MiB"], ["64 KiB", "1 MiB"]),
        ("nfs", "nconnect", [1, 16], ["1", "16"]),
        ("nfs", "hard", [True, False], ["true", "false"]),
    ],
)
def test_levels_are_taken_as_toml_writes_them(protocol: str, option: str, given: list[Any], levels: list[str]) -> None:
    made, _ = cases_of(sweep_of_options([protocol], **{protocol: {option: given}}), CATALOGUE)
    assert [case.option(f"{protocol}.{option}") for case in made] == levels


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ({"nfs": {"version": [4]}}, 'nfs.version: is not "default" or one of 3, 4.0, 4.1, 4.2 (it is 4)'),
        ({"nfs": {"version": [True]}}, 'nfs.version: is not "default" or one of 3, 4.0, 4.1, 4.2 (it is True)'),
        ({"nfs": {"version": [4.1, "4.1"]}}, "nfs.version: has a level twice"),
        (
            {"nfs": {"versoin": [3]}},
            "nfs.versoin: unknown: nfs has client, server, version, nconnect, rsize, wsize, hard",
        ),
        ({"nfs": {"nconnect": [17]}}, 'nfs.nconnect: is not "default" or a whole number from 1 to 16 (it is 17)'),
        ({"nfs": {"nconnect": [True]}}, 'nfs.nconnect: is not "default" or a whole number from 1 to 16 (it is True)'),
        ({"nfs": {"rsize": ["5 KiB"]}}, 'nfs.rsize: is not "default" or a multiple of 4 KiB from 4 KiB to 1 MiB'),
        ({"nfs": {"rsize": ["64 KB"]}}, "nfs.rsize: is not a size such as 64 KiB"),
        ({"nfs": {"hard": [1]}}, 'nfs.hard: is not "default", true or false (it is 1)'),
        ({"nfs": {"hard": []}}, "nfs.hard: is not a list of levels (it is [])"),
        ({"smb": {"dialect": "3.0"}}, "smb.dialect: is not a list of levels (it is '3.0')"),
        ({"protocol": ["ssh"], "tool": ["rsync"], "ssh": {"x": [1]}}, "ssh.x: unknown: ssh has no options"),
        (
            {"protocol": ["nfs"], "smb": {"dialect": ["3.0"]}},
            "smb.dialect: smb is no protocol of this sweep, which has",
        ),
    ],
)
def test_what_no_option_can_be_is_refused_with_what_is_right(factors: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        cases_of(sweep_of_options(**factors), CATALOGUE)
    assert f"[factors] {said}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_too_many_trials_are_counted_with_the_options() -> None:
    few = {"version": [3, 4.0, 4.1, 4.2], "nconnect": [1, 2, 4, 8]}
    sweep_of_options(["nfs", "smb"], nfs=few, blocks=1000)
    assert len(cases_of(sweep_of_options(["nfs", "smb"], nfs=few), CATALOGUE)[0]) == 17
    with pytest.raises(ValueError, match=r"more than 100000.*nfs.version 4, nfs.nconnect 4, nfs.rsize 7"):
        sweep_of_options(["nfs"], nfs=few | {"rsize": [2**power for power in range(12, 19)]}, blocks=1000)


def test_a_plan_says_what_it_can_tell_and_names_no_hole_that_is_meant() -> None:
    wanted = sweep_of_options(smb={"signing": [True, False]}, nfs={"version": [3, 4.1]}, mtu=[1500, 9000], blocks=3)
    found = plan(wanted, CATALOGUE)
    assert [(effect.name, effect.least_pairs) for effect in found.effects] == [
        ("protocol", 2), ("mtu", 4), ("smb.signing", 2), ("nfs.version", 2),
    ]  # fmt: skip
    assert not [line for line in found.cannot_tell if "as a whole" in line]
    assert "nfs.version  3, 4.1" in "\n".join(plan_text.describe(wanted, found))


@pytest.mark.parametrize("effect", ["protocol:smb.signing", "smb.signing:nfs.version"])
def test_an_option_acts_within_its_protocol_only(effect: str) -> None:
    with pytest.raises(BadInput, match="an option goes with its own protocol, tool or store only"):
        plan(sweep_of_options(smb={"signing": [True, False]}, nfs={"version": [3, 4.1]}, effects=[effect]), CATALOGUE)


def test_a_fraction_keeps_the_effects_of_options_apart() -> None:
    _, found = fraction_of_options()
    assert (len(found.cases), found.grid_cases) == (33, 54)
    assert found.d_efficiency > 0.5
    assert not [line for line in found.cannot_tell if " from " in line]


def test_levels_are_read_in_their_order() -> None:
    assert sorted(["16", "4", "1"], key=rank) == ["1", "4", "16"]
    assert sorted(["sync", "kernel", "always", "async", "default"], key=rank) == [
        "default", "kernel", "async", "sync", "always"
    ]  # fmt: skip
    assert sorted(["1 MiB", "64 KiB", "4 KiB"], key=rank) == ["4 KiB", "64 KiB", "1 MiB"]
    assert sorted(["3.1.1", "3.0", "2.1", "true", "3.0.2"], key=rank) == ["2.1", "3.0", "3.0.2", "3.1.1", "true"]


def test_gvfs_takes_no_options_of_a_mount() -> None:
    made, left_out = grid_of(
        sweep_of_options(["nfs"], nfs={"client": ["kernel", "gvfs"], "version": ["default", 3]}), CATALOGUE
    )
    assert [case.mount_options for case in made] == [
        {"client": "kernel"}, {"client": "kernel", "version": "3"}, {"client": "gvfs"}
    ]  # fmt: skip
    assert left_out == ("nfs with client gvfs with version: GVfs takes no options of a mount",)


def test_a_server_is_chosen_on_plots_of_their_own() -> None:
    wanted = sweep_of_options(["nfs"], nfs={"server": ["kernel", "ganesha"], "client": ["kernel", "gvfs"]}, blocks=2)
    made = plan(wanted, CATALOGUE)
    assert "nfs.server" in made.strata[-1].factors
    assert made.changes["server"] == 4
    assert [len(list(group)) for _, group in groupby(slot.case.mount_options["server"] for slot in made.slots)] in (
        [2, 2, 2, 2],
        [2, 4, 2],
    )


def test_a_grid_without_options_is_as_before() -> None:
    found, _ = grid_of(sweep_of(protocol=["smb", "nfs"]), CATALOGUE)
    assert all("." not in name for case in found for name, _ in case.options)
