"""The figures of several clients together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.platforms import Reading
from lab.run.transfer.several_observed import bytes_at, counts_of, jain_index


@given(st.lists(st.floats(1.0, 1e10), min_size=1, max_size=16))
def test_fairness_is_between_one_of_n_and_one(rates: list[float]) -> None:
    assert 1 / len(rates) - 1e-9 <= jain_index(rates) <= 1 + 1e-9


@given(st.floats(1.0, 1e10), st.integers(1, 16))
def test_equal_rates_are_fair(rate: float, clients: int) -> None:
    assert jain_index([rate] * clients) == pytest.approx(1.0)


def test_fairness_of_one_that_has_nearly_everything() -> None:
    assert jain_index([1e9, 1e-9, 1e-9, 1e-9]) == pytest.approx(0.25)
    assert jain_index([3.0, 1.0]) == pytest.approx(16 / 20)


def test_bytes_between_samples_are_taken_to_have_moved_evenly() -> None:
    readings = tuple(Reading(at_s=10.0 + at, net={"tx_bytes": count}) for at, count in ((0, 100), (1, 100), (3, 500)))
    moved = counts_of(readings, "tx_bytes", zero_s=10.0)
    assert moved == [(0.0, 100), (1.0, 100), (3.0, 500)]
    assert [bytes_at(moved, at) for at in (-1.0, 0.5, 2.0, 2.5, 9.0)] == [100, 100, 300, 400, 500]
    assert counts_of(readings, "rx_bytes", zero_s=0.0) == []
