"""Text on lines of a width: nothing of it is lost, and a command stays in one piece."""

import pytest
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


LONG = "`lab run --resume results/20261122T203424Z-first --on-failure stop`,"


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("the run is not complete; `lab run --resume results/x` goes on with it", 40,
         ["the run is not complete;", "`lab run --resume results/x` goes on", "with it"]),
        (f"type {LONG} then wait", 40, ["type", LONG, "then wait"]),
        ("one ` two three", 8, ["one `", "two", "three"]),  # no command
    ],
)  # fmt: skip
def test_a_command_is_broken_nowhere(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width) == lines


def test_wide_characters_take_two_columns_and_lines_that_go_on_stand_below_their_text() -> None:
    assert (columns("ab"), columns("日本"), columns("e\u0301")) == (2, 4, 1)
    assert wrap("日本 日本", 8) == ["日本", "日本"]
    lines = ["  mtu          1500, 9000 and", " " * 15 + "9216"]
    assert wrap_hanging("  mtu          1500, 9000 and 9216", 32) == lines
    assert wrap_hanging("  after 3 blocks it is known", 20) == ["  after 3 blocks it", "    is known"]
    assert wrap_hanging("", 20) == [""]
    assert wrap_hanging("short", 20) == ["short"]
