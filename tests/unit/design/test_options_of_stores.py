"""Options of stores are factors: of their own store only."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.base.errors import BadInput
from lab.design import plan_text
from lab.design.case import Case
from lab.design.grid import grid_of
from lab.design.plan import plan
from lab.design.sweep_file import Sweep, parse_sweep
from lab.run.case.catalogue import CATALOGUE

SWEEP = """
name = "stores"
blocks = 4
[workload]
size = "1 MiB"
[factors]
protocol = ["nfs", "ssh"]
tool = ["rsync"]
direction = ["write"]
"""


def sweep_of(*lines: str) -> Sweep:
    return parse_sweep(SWEEP + "\n".join(lines), Path("stores.toml"))


def cases_of(*lines: str) -> tuple[Case, ...]:
    return grid_of(sweep_of(*lines), CATALOGUE)[0]


def test_an_option_multiplies_the_cases_of_its_own_store_alone() -> None:
    cases = cases_of(
        'store = ["ram", "ext4", "btrfs"]', 'ext4.data = ["ordered", "journal"]', 'btrfs.compress = ["zstd"]'
    )
    assert [(case.store, case.store_options) for case in cases if case.protocol == "nfs"] == [
        ("ram", {}),
        ("ext4", {"data": "ordered"}),
        ("ext4", {"data": "journal"}),
        ("btrfs", {"compress": "zstd"}),
    ]
    assert cases[2].case_id == "nfs-rsync-write-ext4-mtu1500-tcpdefault-ext4.data=journal"
    assert cases[0].option("ext4.data") == "–"


def test_the_default_level_is_left_to_the_store() -> None:
    (case, _) = cases_of('store = ["ext4"]', 'ext4.data = ["default"]')
    assert case.store_options == {}


def test_a_store_is_compared_over_the_levels_of_its_options() -> None:
    sweep = sweep_of('store = ["ram", "ext4"]', 'ext4.data = ["ordered", "journal"]')
    made = plan(sweep, CATALOGUE)
    assert [effect.name for effect in made.effects] == ["protocol", "store", "ext4.data"]
    assert not [line for line in made.cannot_tell if "ext4.data" in line]
    assert "ext4.data" in "\n".join(plan_text.describe(sweep, made))


def test_levels_of_a_store_that_cannot_go_together_are_left_out_with_the_reason() -> None:
    sweep = sweep_of('store = ["zfs"]', 'zfs.raid = ["stripe", "raidz2"]', "zfs.vdevs = [2, 3]")
    cases, left_out = grid_of(sweep, CATALOGUE)
    assert [tuple(case.store_options.values()) for case in cases if case.protocol == "nfs"] == [
        ("stripe", "2"), ("stripe", "3"), ("raidz2", "3"),
    ]  # fmt: skip
    assert left_out == ("zfs with raid raidz2 on vdevs 2: it takes 3 or more",)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (('store = ["ext5"]',), r"\[factors\] store: unknown store 'ext5'; known are apfs, .*ext4"),
        (('store = ["ram"]', 'ext4.data = ["ordered"]'), "ext4.data: ext4 is no store of this sweep, which has ram"),
        (('store = ["ext4"]', 'ext4.date = ["ordered"]'), "ext4.date: unknown: ext4 has fill, disk, data"),
        (('store = ["ext4"]', 'ext4.data = ["all"]'), 'ext4.data: is not "default" or one of ordered, journal, write'),
        (('store = ["xfs"]', "xfs.bs = [1]"), "xfs.bs: unknown: xfs has fill"),
        (('store = ["ram"]', "ram.bs = [1]"), "ram.bs: unknown: ram has no options"),
        (('store = ["xfs"]', "xfs.fill = [96]"), "xfs.fill: is not .* a whole number from 0 to 95"),
        (('store = ["zfs"]', "zfs.ashift = [8]"), "zfs.ashift: is not .* a whole number from 9 to 16"),
        (('store = ["zfs"]', 'zfs.raid = ["raid5"]'), "zfs.raid: is not .* stripe, mirror, raidz, raidz2, raidz3"),
        (('store = ["zfs"]', 'zfs.raid = ["mirror"]', "zfs.vdevs = [1]"), "no case is left: zfs with raid mirror on"),
        (('store = ["zfs"]', 'zfs.compression = ["zstd-20"]'), "zfs.compression: is not .* zstd-1 to zstd-19"),
        (('store = ["zfs"]', 'zfs.recordsize = ["96 KiB"]'), "zfs.recordsize: is not .* a power of two from 512 B"),
    ],
)
def test_what_a_store_does_not_have_is_refused_with_what_it_has(lines: tuple[str, ...], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        cases_of(*lines)
