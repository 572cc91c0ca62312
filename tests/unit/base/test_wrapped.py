"""Text on lines of a width: nothing of it is lost, and a command stays in one piece."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lab.base.wrapped import columns, wrap, wrap_hanging

TEXT = st.text("ab` \t日é-", max_size=80)


@given(text=TEXT, width=st.integers(1, 40), indent=st.sampled_from(["", "  ", "      "]))
def test_all_words_are_there_in_order_and_only_one_alone_is_wider(text: str, width: int, indent: str) -> None:
    lines = wrap(text, width, indent)
    assert " ".join(lines).split() == text.split()
    for line in lines[1:]:
        assert line.startswith(indent)
    for line in lines:
        words = line.strip()
        assert columns(line) <= width or " " not in words or "`" in words, line


def test_a_command_is_not_broken_where_it_has_room_on_a_line() -> None:
    text = "the run is not complete; `lab run --resume results/x` goes on with it"
    assert wrap(text, 40) == ["the run is not complete;", "`lab run --resume results/x` goes on", "with it"]


def test_a_command_longer_than_a_line_has_one_to_itself() -> None:
    command = "`lab run --resume results/20261122T203424Z-first --on-failure stop`,"
    assert wrap(f"type {command} then wait", 40) == ["type", command, "then wait"]


def test_a_mark_that_is_no_command_holds_nothing_together() -> None:
    assert wrap("one ` two three", 8) == ["one `", "two", "three"]


def test_wide_characters_take_two_columns_and_combining_ones_none() -> None:
    assert (columns("ab"), columns("日本"), columns("e\u0301")) == (2, 4, 1)
    assert wrap("日本 日本", 8) == ["日本", "日本"]


def test_lines_that_go_on_stand_below_the_text_that_they_belong_to() -> None:
    assert wrap_hanging("  mtu          1500, 9000 and 9216", 32) == [
        "  mtu          1500, 9000 and",
        " " * 15 + "9216",
    ]
    assert wrap_hanging("  after 3 blocks it is known", 20) == ["  after 3 blocks it", "    is known"]
    assert wrap_hanging("", 20) == [""]
    assert wrap_hanging("short", 20) == ["short"]
