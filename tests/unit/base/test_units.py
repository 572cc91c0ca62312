"""Sizes, times and ports as people write them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.base.units import SECONDS, UNITS, parse_seconds, parse_size
from lab.hosts.fields import parse_port


@given(st.integers(1, 1 << 40), st.sampled_from(sorted(UNITS)), st.sampled_from(["", " ", "  "]))
def test_a_size_is_its_number_times_its_unit(number: int, unit: str, space: str) -> None:
    if number * UNITS[unit] < 1 << 63:
        exact = number * UNITS[unit]
        assert parse_size(f"{number}{space}{unit}") == pytest.approx(exact, rel=1e-15)
        assert number >= 1 << 30 or parse_size(f" {number}{space}{unit} ") == exact
    assert parse_size(number) == number


@given(st.decimals(1, 10**6, places=3), st.sampled_from(sorted(SECONDS)))
def test_a_time_is_its_number_times_its_unit(number: Any, unit: str) -> None:
    assert parse_seconds(f"{number} {unit}") == pytest.approx(float(number) * SECONDS[unit])


def test_units_are_the_usual_ones() -> None:
    sizes = {"1.5 GB": 1500000000, "64 KiB": 65536, "1 kB": 1000, "2TiB": 2 << 40, 7: 7}
    letters = {"64K": 65536, "1g": 1 << 30, "1.5 G": 3 << 29, "512m": 512 << 20, "2T": 2 << 40, "1k": 1024}
    for text, size in (sizes | letters).items():
        assert parse_size(text) == size
    assert [parse_seconds(text) for text in ("90 s", "5 min", "2 h", 300, "0.5")] == [90, 300, 7200, 300, 0.5]
    assert [parse_port(value) for value in (1, "1", 65535, "22")] == [1, 1, 65535, 22]


@pytest.mark.parametrize("parse", [parse_size, parse_seconds])
@pytest.mark.parametrize(
    "value",
    ["", " ", "MiB", "٣", "１ s", "-1", "+1", "1e6", "1_000", "1,5 GB", "1 GB GB", "1 gb", "64KB", "64kib", "1 Ki",
     "0", "0.0", "1.", ".5",
     "nan", "inf", True, None, [], ["1"], -1, 0, float("inf"), float("nan"), "9" * 400, 10**5000, "5 s B", "0x10"],
    ids=lambda value: f"{type(value).__name__}" if isinstance(value, int) else repr(value)[:12],
)  # fmt: skip
def test_what_is_no_size_or_time_is_a_value_error(parse: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=r"is not a|integer string conversion"):
        parse(value)


@pytest.mark.parametrize("value", [1.5, "1.5", 32.0, "0.7 B", "1.0"])
def test_bytes_are_whole(value: Any) -> None:
    with pytest.raises(ValueError, match="bytes are whole"):
        parse_size(value)
