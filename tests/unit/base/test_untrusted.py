"""What others say: read without surprise, and shown without effect."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.fake_host import FakeHost
from support.lying_host import ESCAPES

from lab import platforms
from lab.base.errors import LONGEST, CommandError, LabFailure, Unsupported
from lab.base.untrusted import (
    FASTEST_BYTES_PER_S,
    count,
    first_line,
    from_json,
    listing,
    one_line,
    printable,
    quantity,
    word,
)
from lab.platforms.facts import parse_facts
from lab.platforms.files import NOT_TOLD, parse_df
from lab.platforms.linux.platform import parse_link, parse_linux_facts, parse_route
from lab.platforms.linux.ram_disk import parse_free
from lab.platforms.macos import clock
from lab.platforms.timing import Counters, Timing, parse_timing

TIMING = {"clock": "monotonic", "elapsed_s": "0.5", "flushed": "fsync", "tool_cpu_s": "0.1"}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@given(st.text())
@example(ESCAPES)
@example("\u202eabc\u2069")
def test_no_sign_of_what_is_shown_does_anything(text: str) -> None:
    shown = printable(text)
    assert not CONTROL.search(shown)
    assert shown.count("\n") == text.count("\n")
    assert printable(shown) == shown
    assert len(first_line(text).splitlines()) <= 1


TEXTS = ("", "-1", "nan", "inf", "1e308", "9" * 400, "0x10", "٣", "1_0", "1,5", " 1", "1 ")
ODD: tuple[Any, ...] = (*TEXTS, None, True, [], {}, -1, 10**400)


@pytest.mark.parametrize("value", [*ODD, float("nan"), float("inf"), -0.5, 2**63], ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize("read", [count, quantity])
def test_what_nothing_can_have_counted_is_refused(read: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(ValueError, match=r"is not a|integer string"):
        read(value)


def test_counts_and_quantities_are_numbers() -> None:
    assert (count("0"), count(7), quantity("0.000001"), quantity("1e-06"), quantity(3)) == (0, 7, 1e-6, 1e-6, 3.0)
    with pytest.raises(ValueError, match="is not a count"):
        count(1.0)
    with pytest.raises(ValueError, match="is not of the form that was expected"):
        word("two words")


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, '{"a":' * 5000, "[" * 101 + "]" * 101, "", "nonsense"])
def test_json_that_nothing_can_follow_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(text)


def timing(values: dict[str, str], moved: int = 9) -> Timing:
    counts = {"before": Counters(0, 0, None, None), "after": Counters(moved, 9, None, None)}
    return parse_timing(values, 30, counts.__getitem__)


@pytest.mark.parametrize(
    ("name", "value"),
    [("elapsed_s", "nan"), ("elapsed_s", "1e3"), ("elapsed_s", "31"), ("elapsed_s", "0.0000000001"), ("clock", "sun"),
     ("flushed", "\x1b[2J"), ("tool_cpu_s", "-1"), ("tool_cpu_s", "inf"), ("flush_s", "nan"), ("flush_s", "")],
)  # fmt: skip
def test_a_timing_that_cannot_be_true_is_refused(name: str, value: str) -> None:
    assert timing(TIMING).elapsed_s == 0.5
    with pytest.raises(ValueError, match=name):
        timing(TIMING | {name: value})


@pytest.mark.parametrize(("text", "flush_s"), [("0.2", 0.2), ("0.000000", 0.0), ("0.6", None), ("-0.1", None)])
def test_a_flush_is_a_part_of_the_time(text: str, flush_s: float | None) -> None:
    assert timing(TIMING | {"flush_s": text}).flush_s == flush_s
    assert timing(TIMING).flush_s is None


@pytest.mark.parametrize("name", TIMING)
def test_a_line_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"no {name}"):
        timing({key: value for key, value in TIMING.items() if key != name})


def test_a_timing_says_why_the_weaker_flush_was_taken_and_none_is_faster_than_the_fastest_link() -> None:
    reason = "F_FULLFSYNC: Operation not supported"
    assert timing(TIMING | {"flush_reason": reason}).flushed == f"fsync ({reason})"
    assert not CONTROL.search(timing(TIMING | {"flush_reason": ESCAPES}).flushed)
    with pytest.raises(ValueError, match="more bytes than any link carries"):
        timing(TIMING | {"elapsed_s": "1.0"}, moved=int(FASTEST_BYTES_PER_S) + 10)


@given(st.text())
def test_no_parser_raises_anything_but_a_value_error(text: str) -> None:
    parsers: list[Callable[[str], Any]] = [parse_facts, parse_linux_facts, parse_free, parse_df, parse_link]
    parsers += [
        lambda text: parse_route(text, "192.0.2.1"),
        lambda text: clock.parse_counters(text.splitlines(), "en0"),
    ]
    parsers += [lambda text: list(clock.parse_samples(f"@ 1\n{text}\n", "en0"))]
    for parser in parsers:
        with pytest.raises(ValueError, match=r"."):
            parser(text)


@pytest.mark.parametrize("line", ["user -oProxyCommand=id", "user a b", "home relative", "home /a/../b", "uid -1"])
def test_facts_that_become_words_of_commands_are_checked(line: str) -> None:
    honest = "hostname h\nkernel 6\nuser lab\nuid 0\nhome /root\nend\n"
    assert parse_facts(honest)[0]["user"] == "lab"
    with pytest.raises(ValueError, match=line.split(" ")[0]):
        parse_facts(honest + line + "\n")


def test_free_space_beside_a_device_with_spaces() -> None:
    head = "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
    assert parse_df(head + "//lab@nas/My Share 100 40 60 40% /Volumes/My Share\n") == 60 * 1024
    assert parse_df("Filesystem 1k-blocks Used Available Use% Mounted on\n/dev/mapper/a\n 9 1 8 12% /x\n") == 8 * 1024
    assert parse_df(head + "/dev/sda1 100 110 -10 110% /\n") == 0, "what is left is kept for root"


@pytest.mark.parametrize(
    "row",
    ["gvfsd-fuse 0 0 0 - /tmp/lab/gvfs", "fuse-t:/x 0 0 0 100% /Volumes/x", "acd: - - - - /mnt/tmp",
     ":pcloud: 7340032 -18014398509481984 18014398509481984 - /mnt/p", "nas:/x 100 0 101 0% /mnt/x"],
)  # fmt: skip
def test_a_file_system_that_tells_no_size_is_not_full(row: str) -> None:
    assert parse_df(f"Filesystem 1024-blocks Used Available Capacity Mounted on\n{row}\n") == NOT_TOLD


def test_a_message_is_no_longer_than_a_person_can_read_and_what_is_harmless_is_shown_as_it_is() -> None:
    for text in ("plain", "é 😀 日本", "two\nlines", "a\u00a0b", "a\tb"):
        assert printable(text) == text
    assert len(one_line(ESCAPES * 10_000, 100)) == 100
    assert listing(range(20_000)).endswith("8, 9 and 19,990 more")
    host = FakeHost()
    host.on(("uname", "-s"), "x" * 16 * 2**20)
    with pytest.raises(Unsupported, match=r"^.{1,300}$"):
        platforms.detect(host)
    assert len(str(LabFailure("x" * 10**6))) <= LONGEST + 1
    assert len(str(CommandError("client", ("cp",), 1, "y" * 10**6))) < 1000
