from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.synthetic_runs import RUN, SIZE, trial

from lab.base.errors import BadInput
from lab.design.factors import Direction
from lab.report import conditions
from lab.report.conditions import Condition, Speed, exit_code, judge, parse_conditions, parse_slower_than, speeds_of
from lab.results import dataframe

any_condition = st.builds(
    Condition, st.sampled_from(Direction), st.sampled_from(list(conditions.COMPARISONS)),
    st.integers(1, 10**15 - 1).map(lambda number: number / 10**6), st.sampled_from(list(conditions.UNITS)),
)  # fmt: skip
GIGABIT = 125e6


def speeds(write: float, low: float = np.nan, high: float = np.nan, link: float = GIGABIT) -> dict[Direction, Speed]:
    return {Direction.WRITE: Speed(write, low, high, link)}


def judged(text: str, of: dict[Direction, Speed]) -> list[bool | None]:
    return [judgement.is_met for judgement in judge(parse_conditions(text), of)]


@given(st.lists(any_condition, min_size=1, max_size=4))
def test_what_is_written_reads_back(several: list[Condition]) -> None:
    assert parse_conditions(" or ".join(map(str, several))) == several
    assert parse_conditions("or".join(f" {condition} " for condition in several)) == several


@given(st.text(max_size=40))
def test_any_other_text_is_bad_input_that_shows_what_is_right(text: str) -> None:
    with pytest.raises(BadInput, match="right are 'write < 80 MB/s'"):
        parse_conditions(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "write", "write < 80", "write < 80 mb/s", "write = 80 MB/s", "write < -1 MB/s", "write < 0 MB/s",
        "writes < 80 MB/s", "write < 80 MB/s and read < 80 MB/s", "write < 80 MB/s or", "write < 1e3 MB/s",
        "write < 80 MB/s\nor else", "slower-than 10%",
    ],
)  # fmt: skip
def test_what_is_nearly_right_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--fail-if"):
        parse_conditions(text)


@pytest.mark.parametrize(
    ("text", "bytes_per_s", "is_met"),
    [
        ("write < 80 MB/s", 79.9e6, True), ("write < 80 MB/s", 80e6, False), ("write <= 80 MB/s", 80e6, True),
        ("write>80 MB/s", 80.1e6, True), ("write >= 80 MB/s", 80e6, True), ("write < 80 MiB/s", 83e6, True),
        ("write < 0.1 GB/s", 99e6, True), ("write < 700 Mbit/s", 87e6, True), ("write < 700Mbit/s", 88e6, False),
        ("write < 0.7 Gbit/s", 87e6, True), ("write < 90 %", 0.89 * GIGABIT, True),
        ("write < 90%", 0.91 * GIGABIT, False),
    ],
)  # fmt: skip
def test_a_speed_is_compared_in_the_unit_of_the_limit(text: str, bytes_per_s: float, is_met: bool) -> None:
    assert judged(text, speeds(bytes_per_s)) == [is_met]


def test_the_median_decides_and_the_sentence_says_where_it_is_not_clear() -> None:
    (clear,) = judge(parse_conditions("write < 80 MB/s"), speeds(70e6, 68e6, 72e6))
    assert clear.sentence == "write < 80 MB/s: met; write is 70 [68, 72] MB/s"
    (unclear,) = judge(parse_conditions("write < 80 MB/s"), speeds(82e6, 78e6, 86e6))
    doubt = "not met, not clear: the interval holds the limit"
    assert (unclear.is_met, unclear.sentence) == (False, f"write < 80 MB/s: {doubt}; write is 82 [78, 86] MB/s")


def test_what_was_not_measured_cannot_be_told_and_is_no_pass() -> None:
    assert judged("read < 80 MB/s", speeds(70e6)) == [None]
    assert judged("write < 90 %", speeds(70e6, link=np.nan)) == [None]
    several = judge(parse_conditions("read < 80 MB/s or write < 80 MB/s or write < 60 MB/s"), speeds(70e6))
    assert list(map(exit_code, (several[:2], several[:1], several[2:]))) == [conditions.MET, conditions.CANNOT_TELL, 0]


def test_a_direction_is_as_fast_as_its_fastest_tool() -> None:
    of = {("cp", "write"): 5.0, ("rsync", "write"): 8.0, ("cp", "read"): 6.0}
    trials = [
        trial(trial_id=f"{tool}-{way}-{count}", block=count + 1, tool=tool, direction=way, elapsed_s=seconds)
        for (tool, way), seconds in of.items()
        for count in range(3)
    ]
    trials.append(trial(trial_id="void", status="void", elapsed_s=0.1))
    measured = speeds_of(dataframe.frame(trials, RUN))
    medians = {direction: speed.median for direction, speed in measured.items()}
    assert medians == pytest.approx({Direction.WRITE: SIZE / 5, Direction.READ: SIZE / 6})
    assert measured[Direction.WRITE].link == 118e6  # what iperf3 measured


@pytest.mark.parametrize(
    ("named", "link"),
    [
        ({"link": {"bits_per_s": 10**9}, "hosts": {"client": {"link_bits_per_s": 10**8}}}, GIGABIT),
        ({"hosts": {"client": {"link_bits_per_s": 10**8}}}, GIGABIT / 10),
        ({"hosts": {}}, np.nan),
    ],
)
def test_without_iperf3_the_link_is_what_the_interface_names(named: dict[str, Any], link: float) -> None:
    speeds = speeds_of(dataframe.frame([trial(ceiling_bytes_per_s=None)], RUN | named))
    np.testing.assert_equal(speeds[Direction.WRITE].link, link)


@pytest.mark.parametrize(
    "text", ["", "slower-than", "slower-than 10", "slower 10%", "slower-than 100%", "slower-than -1%"]
)
def test_how_much_slower_is_read_or_refused_with_what_is_right(text: str) -> None:
    right = {"slower-than 10%": 10, " slower-than 7.5 % ": 7.5, "slower-than 0%": 0}
    assert {words: parse_slower_than(words) for words in right} == right
    with pytest.raises(BadInput, match="right is 'slower-than 10%'"):
        parse_slower_than(text)
