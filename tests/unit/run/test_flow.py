"""When the payload was on the wire, of byte counts that were sampled while it moved."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.platforms import Reading
from lab.run.transfer.observation import payload_edges

SIZE = 100_000_000


def sampled(moved: Callable[[float], float], end_s: float, step_s: float = 0.1) -> list[Reading]:
    """What a host would have counted, at the start, ten times a second, and at the end; its clock begins at 50 s."""
    times = [0.0, *(step_s * number for number in range(1, int(end_s / step_s - 1e-6) + 1)), end_s]
    return [Reading(50 + at_s, net={"tx_bytes": 7000 + round(moved(at_s)), "rx_bytes": 5}) for at_s in times]


@given(begin_s=st.floats(0.0, 1.5), flow_s=st.floats(0.4, 5.0), rest_s=st.floats(0.0, 1.5))
def test_edges_lie_closer_than_samples_do(begin_s: float, flow_s: float, rest_s: float) -> None:
    def moved(at_s: float) -> float:
        return SIZE * min(1.0, max(0.0, (at_s - begin_s) / flow_s))

    before_s, after_s = payload_edges(sampled(moved, begin_s + flow_s + rest_s), "tx_bytes", SIZE)
    assert before_s == pytest.approx(begin_s, abs=0.06)
    assert after_s == pytest.approx(rest_s, abs=0.06)


def test_a_login_is_no_payload() -> None:
    def moved(at_s: float) -> float:
        return SIZE * max(0.0, at_s - 1.0) + (20_000 if at_s > 0.1 else 0)

    before_s, after_s = payload_edges(sampled(moved, 2.0), "tx_bytes", SIZE)
    assert before_s == pytest.approx(1.0, abs=0.03)
    assert after_s == pytest.approx(0.0, abs=0.03)


@pytest.mark.parametrize(
    "readings",
    [
        [],
        [Reading(50.0, net={"tx_bytes": 0}), Reading(51.0, net={"tx_bytes": SIZE})],  # nothing in between
        [Reading(50.0), Reading(50.5), Reading(51.0)],  # no counts
        sampled(lambda at_s: SIZE / 2 * at_s, 1.0),  # half of it came from a cache
    ],
)
def test_what_the_samples_do_not_tell_is_not_said(readings: list[Reading]) -> None:
    assert payload_edges(readings, "tx_bytes", SIZE) == (None, None)
