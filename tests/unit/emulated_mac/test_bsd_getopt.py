"""Command lines as getopt(3) of BSD reads them."""

from emulated_mac import bsd_getopt


def test_options_end_at_the_first_word_that_is_none() -> None:
    found, rest = bsd_getopt.parse("x", ["-ab", "v", "-c", "w", "-a"], "ab:c", "usage")
    assert (found, rest) == ([("a", ""), ("b", "v"), ("c", "")], ["w", "-a"])
