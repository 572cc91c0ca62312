"""Options of mounts, tools and stores as factors: the cases and plans that they make, and what is refused."""

import re
from itertools import groupby
from typing import Any

import pytest
from support.sweeps import cases_of, fraction_of_options, sweep_of, sweep_of_options

from lab.base.errors import BadInput
from lab.design import plan_text
from lab.design.factors import can_be_combined, chooser_of, rank
from lab.design.plan import plan
from lab.run.case.catalogue import CATALOGUE

BLOCKS: dict[str, Any] = {"tool": ["cp", "dd"], "dd": {"bs": ["4 KiB", "1 MiB"]}, "direction": ["write"]}
STORES: dict[str, Any] = {"protocol": ["nfs", "ssh"], "tool": ["rsync"], "direction": ["write"]}
STORE_OPTIONS = [  # of a store, a level that is refused, and why
    ("ext4", "date", "ordered", "unknown: ext4 has fill, disk, data"), ("xfs", "bs", 1, "unknown: xfs has fill"),
    ("ext4", "data", "all", 'is not "default" or one of ordered, journal, write'),
    ("ram", "bs", 1, "unknown: ram has no options"),
    ("xfs", "fill", 96, 'is not "default" or a whole number from 0 to 95'),
    ("zfs", "ashift", 8, 'is not "default" or a whole number from 9 to 16'),
    ("zfs", "raid", "raid5", 'is not "default" or one of stripe, mirror, raidz, raidz2, raidz3'),
    ("zfs", "compression", "zstd-20", 'is not "default" or one of off, on, lz4, lzjb, zle, gzip, gzip-1 to gzip-9, '
     "zstd, zstd-1 to zstd-19"),
    ("zfs", "recordsize", "96 KiB", 'is not "default" or a power of two from 512 B'),
]  # fmt: skip


def test_an_option_multiplies_the_cases_of_its_own_protocol_tool_or_store_only() -> None:
    smb = {"dialect": ["2.1", "3.0", "default"], "signing": [True, False]}
    made, _ = cases_of(sweep_of_options(smb=smb, nfs={"version": [3, 4.1]}))
    assert [case.protocol for case in made] == ["smb"] * 6 + ["nfs"] * 2
    named = [{name: level for name, level in case.options if "." in name} for case in made]
    assert named[1] == {"smb.dialect": "2.1", "smb.signing": "false"}
    assert named[-1] == {"nfs.version": "4.1"}
    assert made[4].mount_options == {"signing": "true"}
    assert made[1].case_id.endswith("-smb.dialect=2.1-smb.signing=false")
    assert len({case.case_id for case in made}) == 8
    made, _ = cases_of(sweep_of(protocol=["smb", "nfs"], smb={"signing": [True, False]}, **BLOCKS))
    assert [(case.protocol, case.tool) for case in made] == [
        *[("smb", "cp")] * 2, *[("smb", "dd")] * 4, ("nfs", "cp"), *[("nfs", "dd")] * 2
    ]  # fmt: skip
    assert (made[2].mount_options, made[2].tool_options) == ({"signing": "true"}, {"bs": "4 KiB"})
    assert (made[0].mount_options, made[0].tool_options) == ({"signing": "true"}, {})
    assert made[-1].case_id.endswith("-dd.bs=1 MiB")
    assert len({case.case_id for case in made}) == 9
    options: dict[str, Any] = {"ext4": {"data": ["ordered", "journal"]}, "btrfs": {"compress": ["zstd"]}}
    cases, _ = cases_of(sweep_of(**STORES, store=["ram", "ext4", "btrfs"], **options))
    assert [(case.store, case.store_options) for case in cases if case.protocol == "nfs"] == [
        ("ram", {}), ("ext4", {"data": "ordered"}), ("ext4", {"data": "journal"}), ("btrfs", {"compress": "zstd"}),
    ]  # fmt: skip
    assert cases[2].case_id == "nfs-rsync-write-ext4-mtu1500-tcpdefault-ext4.data=journal"
    assert cases[0].option("ext4.data") == "–"


def test_a_case_that_asks_for_nothing_is_the_one_that_it_always_was() -> None:
    (asked, *_), _ = cases_of(sweep_of_options(smb={"dialect": ["default", "2.1"]}))
    (plain, *_), _ = cases_of(sweep_of_options())
    assert (asked.case_id, asked.mount_options) == (plain.case_id, {})
    (stored, _), _ = cases_of(sweep_of(**STORES, store=["ext4"], ext4={"data": ["default"]}))
    assert stored.store_options == {}
    assert all("." not in name for case in cases_of(sweep_of(protocol=["smb", "nfs"]))[0] for name, _ in case.options)


@pytest.mark.parametrize(
    ("protocol", "option", "values", "levels"),
    [
        ("nfs", "version", [3, 4.0, "4.1", "default"], ["3", "4.0", "4.1", "default"]),
        ("smb", "dialect", [3.0, "3.1.1"], ["3.0", "3.1.1"]), ("nfs", "rsize", [65536, "1 MiB"], ["64 KiB", "1 MiB"]),
        ("nfs", "nconnect", [1, 16], ["1", "16"]), ("nfs", "hard", [True, False], ["true", "false"]),
    ],
)  # fmt: skip
def test_levels_are_taken_as_toml_writes_them(protocol: str, option: str, values: list[Any], levels: list[str]) -> None:
    made, _ = cases_of(sweep_of_options([protocol], **{protocol: {option: values}}))
    assert [case.option(f"{protocol}.{option}") for case in made] == levels


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({"tool": ["cp"], "dd": {"bs": ["4 KiB"]}}, "dd.bs: dd is no tool of this sweep, which has cp"),
        ({"tool": ["cp"], "cp": {"bs": ["4 KiB"]}}, "cp.bs: unknown: cp has no options"),
        ({"tool": ["dd"], "dd": {"bz": ["4 KiB"]}}, "dd.bz: unknown: dd has bs"),
        ({"tool": ["dd"], "dd": {"bs": ["4 KiB", 4096]}}, "dd.bs: has a level twice"),
        ({"tool": ["dd"], "dd": {"bs": [1000]}}, 'dd.bs: is not "default" or a multiple of 512 B from 512 B to 1 GiB'),
        ({"nfs": {"version": [4]}}, 'nfs.version: is not "default" or one of 3, 4.0, 4.1, 4.2 (it is 4)'),
        ({"nfs": {"version": [True]}}, 'nfs.version: is not "default" or one of 3, 4.0, 4.1, 4.2 (it is True)'),
        ({"nfs": {"version": [4.1, "4.1"]}}, "nfs.version: has a level twice"),
        ({"nfs": {"versoin": [3]}},
         "nfs.versoin: unknown: nfs has client, server, version, nconnect, rsize, wsize, hard"),
        ({"nfs": {"nconnect": [17]}}, 'nfs.nconnect: is not "default" or a whole number from 1 to 16 (it is 17)'),
        ({"nfs": {"nconnect": [True]}}, 'nfs.nconnect: is not "default" or a whole number from 1 to 16 (it is True)'),
        ({"nfs": {"rsize": ["5 KiB"]}}, 'nfs.rsize: is not "default" or a multiple of 4 KiB from 4 KiB to 1 MiB'),
        ({"nfs": {"rsize": ["64 KB"]}}, "nfs.rsize: is not a size such as 64 KiB"),
        ({"nfs": {"hard": [1]}}, 'nfs.hard: is not "default", true or false (it is 1)'),
        ({"nfs": {"hard": []}}, "nfs.hard: is not a list of levels (it is [])"),
        ({"smb": {"dialect": "3.0"}}, "smb.dialect: is not a list of levels (it is '3.0')"),
        ({"protocol": ["ssh"], "tool": ["rsync"], "ssh": {"x": [1]}}, "ssh.x: unknown: ssh has no options"),
        ({"protocol": ["nfs"], "smb": {"dialect": ["3.0"]}},
         "smb.dialect: smb is no protocol of this sweep, which has"),
        ({"store": ["ext5"]}, "store: unknown store 'ext5'; known are apfs, btrfs, disk, ext4"),
        ({"store": ["ram"], "ext4": {"data": ["ordered"]}}, "ext4.data: ext4 is no store of this sweep, which has ram"),
        *(({"store": [store]} | {store: {option: [level]}}, f"{store}.{option}: {why}")
          for store, option, level, why in STORE_OPTIONS),
    ],
)  # fmt: skip
def test_what_no_option_can_be_is_refused_with_what_is_right(factors: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        cases_of(sweep_of(**({"protocol": ["smb", "nfs"]} | factors)))
    assert f"[factors] {message}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_too_many_trials_are_counted_with_the_options() -> None:
    few = {"version": [3, 4.0, 4.1, 4.2], "nconnect": [1, 2, 4, 8]}
    sweep_of_options(["nfs", "smb"], nfs=few, blocks=1000)
    assert len(cases_of(sweep_of_options(["nfs", "smb"], nfs=few))[0]) == 17
    with pytest.raises(ValueError, match=r"more than 100000.*nfs.version 4, nfs.nconnect 4, nfs.rsize 7"):
        sweep_of_options(["nfs"], nfs=few | {"rsize": [2**power for power in range(12, 19)]}, blocks=1000)
    sizes = [512 << power for power in range(12)]
    with pytest.raises(ValueError, match=r"more than 100000.*dd.bs 12"):
        sweep_of(protocol=["smb", "nfs"], tool=["cp", "dd"], dd={"bs": sizes}, mtu=[*range(1500, 3500)], blocks=1)


@pytest.mark.parametrize(
    ("factors", "pairs", "hole", "line"),
    [
        ({"smb": {"signing": [True, False]}, "nfs": {"version": [3, 4.1]}, "mtu": [1500, 9000]},
         {"protocol": 2, "mtu": 4, "smb.signing": 2, "nfs.version": 2}, "as a whole", r"nfs\.version  3, 4\.1"),
        (BLOCKS | {"smb": {"signing": [True, False]}},
         {"protocol": 3, "tool": 3, "smb.signing": 3, "dd.bs": 3}, "as a whole", r"dd\.bs +4 KiB, 1 MiB"),
        (STORES | {"store": ["ram", "ext4"], "ext4": {"data": ["ordered", "journal"]}},
         {"protocol": 3, "store": 2, "ext4.data": 2}, "ext4.data", r"ext4\.data"),
    ],
)  # fmt: skip
def test_a_plan_tells_of_options(factors: dict[str, Any], pairs: dict[str, int], hole: str, line: str) -> None:
    """It names no hole that is meant."""
    sweep = sweep_of(blocks=4, **({"protocol": ["smb", "nfs"], "direction": ["write"]} | factors))
    planned = plan(sweep, CATALOGUE)
    assert [(effect.name, effect.least_pairs) for effect in planned.effects] == list(pairs.items())
    assert not [text for text in planned.cannot_tell if hole in text]
    assert re.search(line, "\n".join(plan_text.describe(sweep, planned)))


@pytest.mark.parametrize("effect", ["protocol:smb.signing", "smb.signing:nfs.version"])
def test_an_option_acts_within_its_protocol_only(effect: str) -> None:
    with pytest.raises(BadInput, match="an option goes with its own protocol, tool or store only"):
        plan(sweep_of_options(smb={"signing": [True, False]}, nfs={"version": [3, 4.1]}, effects=[effect]), CATALOGUE)


def test_a_fraction_keeps_the_effects_of_options_apart() -> None:
    _, planned = fraction_of_options()
    assert (len(planned.cases), planned.grid_cases) == (33, 54)
    assert planned.d_efficiency > 0.5
    assert not [line for line in planned.cannot_tell if " from " in line]


def test_levels_are_read_in_their_order_and_an_option_comes_with_the_factor_of_its_owner() -> None:
    for shuffled, levels in {
        "16, 4, 1": "1, 4, 16", "sync, kernel, always, async, default": "default, kernel, async, sync, always",
        "1 MiB, 64 KiB, 4 KiB": "4 KiB, 64 KiB, 1 MiB", "3.1.1, 3.0, 2.1, true, 3.0.2": "2.1, 3.0, 3.0.2, 3.1.1, true",
    }.items():  # fmt: skip
        assert ", ".join(sorted(shuffled.split(", "), key=rank)) == levels
    owners = {"tool": ["dd"], "store": ["ext4"]}
    names = ("dd.bs", "ext4.data", "smb.signing", "mtu")
    assert [chooser_of(name, owners) for name in names] == ["tool", "store", "protocol", ""]


def test_gvfs_takes_no_options_of_a_mount() -> None:
    made, left_out = cases_of(sweep_of_options(["nfs"], nfs={"client": ["kernel", "gvfs"], "version": ["default", 3]}))
    assert [case.mount_options for case in made] == [
        {"client": "kernel"}, {"client": "kernel", "version": "3"}, {"client": "gvfs"}
    ]  # fmt: skip
    assert left_out == ("nfs with client gvfs with version: GVfs takes no options of a mount",)


def test_a_server_is_chosen_on_plots_of_their_own() -> None:
    sweep = sweep_of_options(["nfs"], nfs={"server": ["kernel", "ganesha"], "client": ["kernel", "gvfs"]}, blocks=2)
    made = plan(sweep, CATALOGUE)
    assert "nfs.server" in made.strata[-1].factors
    assert made.changes["server"] == 4
    lengths = [len(list(group)) for _, group in groupby(slot.case.mount_options["server"] for slot in made.slots)]
    assert lengths in ([2, 2, 2, 2], [2, 4, 2])


TOGETHER = [
    ("dd.bs", "protocol"), ("dd.bs", "smb.signing"), ("smb.signing", "tool"), ("dd.bs", "mtu"), ("dd.bs", "dd.count"),
    ("ext4.data", "dd.bs"), ("ext4.data", "smb.signing"), ("ext4.data", "protocol"),
]  # fmt: skip
APART = [
    ("dd.bs", "tool"), ("dd.bs", "fio.jobs"), ("smb.signing", "protocol"), ("smb.signing", "nfs.version"),
    ("ext4.data", "store"), ("ext4.data", "btrfs.compress"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), [*TOGETHER, *APART])
def test_what_can_be_combined(first: str, second: str) -> None:
    levels = {"tool": ("cp", "dd", "fio"), "store": ("ram", "ext4", "btrfs")}
    for pair in ((first, second), (second, first)):
        assert can_be_combined(*pair, levels) is ((first, second) in TOGETHER)


def test_levels_of_a_store_that_cannot_go_together_are_left_out_with_the_reason() -> None:
    cases, left_out = cases_of(sweep_of(**STORES, store=["zfs"], zfs={"raid": ["stripe", "raidz2"], "vdevs": [2, 3]}))
    assert [tuple(case.store_options.values()) for case in cases if case.protocol == "nfs"] == [
        ("stripe", "2"), ("stripe", "3"), ("raidz2", "3"),
    ]  # fmt: skip
    assert left_out == ("zfs with raid raidz2 on vdevs 2: it takes 3 or more",)
    with pytest.raises(BadInput, match="no case is left: zfs with raid mirror on"):
        cases_of(sweep_of(**STORES, store=["zfs"], zfs={"raid": ["mirror"], "vdevs": [1]}))
