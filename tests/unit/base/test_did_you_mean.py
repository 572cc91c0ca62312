"""The name that somebody may have meant."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.planted import EVIL, assert_plain

from lab.base.did_you_mean import hint, nearest

NAMES = ("check", "plan", "run", "restore", "show", "Report")


@pytest.mark.parametrize(
    ("name", "match"),
    [("chekc", "check"), ("shwo", "show"), ("SHOW", "show"), ("repotr", "Report"), ("resotre", "restore"), ("fly", ""),
     ("", ""), ("x" * 200, "")],
)  # fmt: skip
def test_one_name_that_is_spelt_nearly_so_is_meant(name: str, match: str) -> None:
    assert nearest(name, NAMES) == match
    assert hint(name, NAMES) == (f"; did you mean {match!r}?" if match else "")


@given(st.text(), st.lists(st.text()))
def test_only_one_of_the_names_is_ever_meant(name: str, names: list[str]) -> None:
    assert nearest(name, names) in ("", *names)


def test_names_that_are_long_cost_nothing_and_one_that_somebody_else_wrote_is_shown_plainly() -> None:
    began = time.monotonic()
    assert nearest("a" * 100_000, ["a" * 100_000] * 20) == ""
    assert time.monotonic() - began < 1
    assert_plain(hint(f"{EVIL[:60]}y", [EVIL[:60]]))
