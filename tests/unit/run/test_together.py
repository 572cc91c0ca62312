"""The figures of several clients: from invented courses, and what makes a transfer void."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.platforms import Reading
from lab.results.observed import Observed
from lab.results.together import ClientPart, Together
from lab.run.transfer.proof import describe_skew
from lab.run.transfer.several_observed import _bytes_at, _counts, jain_index

RATES = st.lists(st.floats(1.0, 1e10), min_size=1, max_size=16)


def trial(skew_s: float, bound_s: float, *lasted: float) -> Observed:
    parts = tuple(
        ClientPart(name=f"client.{number}", started_s=0.0 if number else skew_s, ended_s=seconds + skew_s)
        for number, seconds in enumerate(lasted)
    )
    return Observed(together=Together(clients=parts, skew_s=skew_s, skew_bound_s=bound_s))


@given(RATES)
def test_fairness_is_between_one_of_n_and_one(rates: list[float]) -> None:
    assert 1 / len(rates) - 1e-9 <= jain_index(rates) <= 1 + 1e-9


@given(st.floats(1.0, 1e10), st.integers(1, 16))
def test_equal_rates_are_fair(rate: float, clients: int) -> None:
    assert jain_index([rate] * clients) == pytest.approx(1.0)


def test_fairness_of_one_that_has_nearly_everything() -> None:
    assert jain_index([1e9, 1e-9, 1e-9, 1e-9]) == pytest.approx(0.25)
    assert jain_index([3.0, 1.0]) == pytest.approx(16 / 20)


@pytest.mark.parametrize(
    ("skew_s", "bound_s", "lasted", "is_void"),
    [
        (0.01, 0.001, (1.0, 1.0), False),
        (0.049, 0.002, (1.0, 1.0), True),  # more than 50 ms are possible, and 1 % of a second is less
        (0.049, 0.002, (10.0, 9.0), False),  # 1 % of the shortest
        (0.2, 0.0, (10.0, 9.0), True),
        (0.0, 0.3, (2.0, 2.0), True),  # not known well enough
    ],
)
def test_starts_that_lie_too_far_apart_void_it(
    skew_s: float, bound_s: float, lasted: tuple[float, ...], is_void: bool
) -> None:
    why = describe_skew(trial(skew_s, bound_s, *lasted).together)
    assert bool(why) is is_void
    if is_void:
        assert why.startswith("the clients did not start together: client.0 started")


def test_bytes_between_samples_are_taken_to_have_moved_evenly() -> None:
    readings = tuple(Reading(at_s=10.0 + at, net={"tx_bytes": count}) for at, count in ((0, 100), (1, 100), (3, 500)))
    moved = list(_counts(readings, "tx_bytes", zero_s=10.0))
    assert moved == [(0.0, 100), (1.0, 100), (3.0, 500)]
    assert [_bytes_at(moved, at) for at in (-1.0, 0.5, 2.0, 2.5, 9.0)] == [100, 100, 300, 400, 500]
    assert list(_counts(readings, "rx_bytes", zero_s=0.0)) == []
