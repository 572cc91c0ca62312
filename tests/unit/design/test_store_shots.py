"""How many bytes dd moves to measure a store, and how long all of it takes."""

from hypothesis import given
from hypothesis import strategies as st

from lab.design import store_shots
from lab.design.payload_size import MIB
from lab.design.store_shots import LEAST_BYTES, SHOTS, shot_bytes


@given(st.integers(1, 2**44), st.integers(0, 2**40))
def test_a_shot_is_a_third_of_the_payload_and_stays_in_memory(payload: int, available: int) -> None:
    size = shot_bytes(payload)
    assert size <= payload
    assert SHOTS * size >= payload
    assert size <= max(LEAST_BYTES, payload // SHOTS + MIB)
    assert 0 < shot_bytes(payload, available) <= max(MIB, min(size, available / store_shots.MOST_OF_MEMORY))


def test_a_small_payload_is_written_whole() -> None:
    assert [shot_bytes(size) for size in (5000, 8 * MIB, 1024 * MIB)] == [5000, 8 * MIB, 342 * MIB]


@given(st.integers(1, 2**44))
def test_random_requests_have_whole_blocks_to_go_to(payload: int) -> None:
    assert store_shots.fio_bytes(payload) >= LEAST_BYTES
    assert store_shots.fio_bytes(payload) % 4096 == 0


def test_bonnie_takes_most_of_the_time_and_more_where_its_size_is_not_known() -> None:
    of_dd = store_shots.seconds(("dd",), 300 * MIB, None, 60e6)
    in_full = store_shots.seconds(("dd", "bonnie++"), 300 * MIB, 1024 * MIB, 60e6)
    by_blocks = store_shots.seconds(("dd", "bonnie++"), 300 * MIB, 1024 * MIB, 60e6, per_byte=False)
    assert of_dd < 20
    assert by_blocks - of_dd == 6 * 1024 * MIB / 60e6
    assert in_full - by_blocks > 1000
    assert store_shots.seconds(("bonnie++",), 300 * MIB, None, 60e6) > 3000
    assert store_shots.seconds(("fio",), MIB, None, 60e6) > 2 * store_shots.FIO_S
