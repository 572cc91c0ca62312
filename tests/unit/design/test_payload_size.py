"""Sizes that follow from a link."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sweeps import sweep_with

from lab.design import plan_text
from lab.design.pace import Pace
from lab.design.payload_size import MIB, most_in, size_for
from lab.design.plan import plan
from lab.run.case.catalogue import CATALOGUE


@pytest.mark.parametrize(
    ("seconds", "bytes_per_s", "size_mib"),
    [(3, 117.6e6, 512), (3, 1.17e9, 4096), (3, 2.9e9, 16384), (1, MIB, 1), (1, MIB + 1, 2), (3, 10, 1)],
)
def test_a_link_takes_up_to_twice_as_long_as_was_asked(seconds: float, bytes_per_s: float, size_mib: int) -> None:
    assert size_for(seconds, bytes_per_s) == size_mib * MIB


@given(st.floats(0.1, 600), st.floats(1e6, 1e10))
def test_a_size_is_a_power_of_two_that_takes_long_enough(seconds: float, bytes_per_s: float) -> None:
    size = size_for(seconds, bytes_per_s)
    assert size & (size - 1) == 0
    assert size == MIB or seconds * bytes_per_s <= size + 1 < 2 * seconds * bytes_per_s + 2


def test_a_plan_takes_the_size_by_what_the_link_carried_before_and_what_fits_leaves_room() -> None:
    sweep = sweep_with(workload={"seconds": 3})
    assert {case.size_bytes for case in plan(sweep, CATALOGUE).cases} == {512 * MIB}
    fast = plan(sweep, CATALOGUE, pace=Pace(link_bytes_per_s=1.17e9))
    assert {case.size_bytes for case in fast.cases} == {4096 * MIB}
    assert fast.bytes_moved == 6 * 4096 * MIB
    sizes = "512 MiB at 1 Gbit/s, 1 GiB at 2.5 Gbit/s, 4 GiB at 10 Gbit/s, 8 GiB at 20 Gbit/s; planned with 4 GiB"
    assert f"  {sizes}" in list(plan_text.describe(sweep, fast))
    assert "size:" not in list(plan_text.describe(sweep_with(), plan(sweep_with(), CATALOGUE)))
    assert most_in(2048 * MIB) == 1950 * MIB
