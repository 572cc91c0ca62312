"""bonnie++: what it is told, what is read of its line of numbers, and which versions will not do."""

from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fake_host import FakeHost
from support.paths import LINUX_CAPTURES

from lab.base.errors import Unsupported
from lab.results.observed import Bonnie, BonnieTest, Observed
from lab.workloads import bonnie
from lab.workloads.bonnie import BYTES, OPERATIONS, parse_report

GIB = 2**30
TESTS = [*BYTES, *OPERATIONS]
USAGE = "bonnie++: invalid option -- 'h'\nusage:\nbonnie++ [-d scratch-dir]\n\nVersion: {}\n"


def capture(name: str) -> str:
    return (LINUX_CAPTURES / f"bonnie-{name}.txt").read_text()


def fields_of(name: str) -> list[str]:
    return capture(name).strip().split(",")


def test_every_number_of_a_real_line_has_its_name_and_unit_and_survives_a_run_folder() -> None:
    report = parse_report(f"a table for people\n{capture('64M-16')}", cached=True)
    assert (report.version, report.file_bytes, report.files) == ("2.00a", 64 << 20, 16384)
    assert report.write_char == BonnieTest(bytes_per_s=428 * 1024, cpu=0.46, longest_ms=63.238)
    assert report.read_char == BonnieTest(bytes_per_s=569 * 1024, cpu=0.43, longest_ms=51.385)
    assert report.create == BonnieTest(per_s=5196, cpu=0.48, longest_ms=16.229)
    assert report.random_delete == BonnieTest(per_s=28407, cpu=0.45, longest_ms=11.56)
    assert report.line == capture("64M-16").strip()
    report = parse_report(capture("64M-16"), cached=True)
    assert Observed.from_json(Observed(bonnie=report).to_json()).bonnie == report
    assert Bonnie.from_json({**report.to_json(), "future": 1}).other == {"future": 1}


def test_a_line_of_1_97_has_the_same_tests_two_fields_earlier() -> None:
    report = parse_report(capture("1.97"), cached=True)
    assert (report.version, report.file_bytes, report.files) == ("1.97", GIB, 4096)
    assert report.write_char == BonnieTest(bytes_per_s=327 * 1024, cpu=0.11, longest_ms=122.0)
    assert report.seeks == BonnieTest(per_s=9565, cpu=0.19, longest_ms=41.697)
    assert report.random_create == BonnieTest(per_s=3217, cpu=0.1, longest_ms=58.796)


def test_what_was_too_short_has_no_rate_and_what_was_not_run_is_absent() -> None:
    report = parse_report(capture("1G-fast"), cached=False)
    assert (report.file_bytes, report.files, report.cached) == (GIB, None, False)
    assert (report.write_char, report.read_char, report.create, report.random_stat) == (None, None, None, None)
    assert report.seeks == BonnieTest(longest_ms=22.809, too_short=True)
    assert report.write_block == BonnieTest(bytes_per_s=289935 * 1024, cpu=0.26, longest_ms=35.537)
    short = parse_report(capture("64M-1"), cached=True)
    assert short.stat == BonnieTest(longest_ms=0.097, too_short=True)
    assert "+" not in str({**short.to_json(), "line": "", "other": ""})


@given(st.sampled_from(TESTS), st.integers(1, 10**7), st.integers(0, 500), st.sampled_from(["us", "ms", "s"]))
def test_a_rate_stands_where_its_place_says_and_nowhere_else(test: str, rate: int, cpu: int, unit: str) -> None:
    place, latency = (BYTES | OPERATIONS)[test]
    fields = fields_of("64M-1")
    fields[place : place + 2], fields[latency] = [str(rate), str(cpu)], f"7{unit}"
    report = parse_report(",".join(fields), cached=True)
    measured = {name: getattr(report, name) for name in TESTS}
    longest_ms = {"us": 0.007, "ms": 7.0, "s": 7000.0}[unit]
    bytes_per_s, per_s = (rate * 1024, None) if test in BYTES else (None, rate)
    expected = BonnieTest(bytes_per_s=bytes_per_s, per_s=per_s, cpu=cpu / 100, longest_ms=longest_ms)
    before = parse_report(capture("64M-1"), cached=True)
    assert measured == {name: getattr(before, name) for name in TESTS} | {test: expected}


@pytest.mark.parametrize(("changed", "why"), [
    ({0: "1.93c"}, "format 1.93c with 50 fields"),
    ({0: "1.97"}, "format 1.97 with 50 fields"),
    ({11: "-5"}, "not a quantity"),
    ({11: "999999999999"}, "KiB a second"),
    ({38: "5 minutes"}, "form that was expected"),
    ({1: "3.00"}, "form that was expected"),
    ({5: "lots"}, "form that was expected"),
    ({**dict.fromkeys(range(9, 50), "")}, "no test was run"),
])  # fmt: skip
def test_a_line_that_cannot_be_true_is_refused(changed: dict[int, str], why: str) -> None:
    fields = [changed.get(place, field) for place, field in enumerate(fields_of("64M-16"))]
    with pytest.raises(ValueError, match=why):
        parse_report(",".join(fields), cached=True)


@pytest.mark.parametrize("text", ["", "nothing", capture("64M-1") * 2, ",".join(fields_of("64M-1")[:27])])
def test_none_several_and_half_a_line_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"lines of numbers|fields"):
        parse_report(text, cached=True)


def test_it_tests_in_the_folder_that_it_is_given_with_a_file_of_twice_the_memory() -> None:
    words = bonnie.argv(("bonnie++",), "/srv/file-share-lab-0123456789abcdef", 3 * GIB, as_root=False)
    assert words[:3] == ("bonnie++", "-d", "/srv/file-share-lab-0123456789abcdef")
    assert words[words.index("-s") + 1] == "3072"
    assert not {"-u", "-b"} & {*words}
    flushing = bonnie.argv(("bonnie++",), "/srv/x", GIB, as_root=True, options=bonnie.Options(with_fsync=True))
    assert flushing[-3:] == ("-b", "-u", "root")
    assert "-f" not in flushing
    assert "-f" in bonnie.argv(("bonnie++",), "/srv/x", GIB, as_root=False, options=bonnie.Options(per_byte=False))
    assert bonnie.file_bytes(None, 4 * GIB + 1) == 8 * GIB + 2**20
    assert bonnie.file_bytes(300_000_000, 4 * GIB) == 287 * 2**20
    assert bonnie.is_cached(8 * GIB - 1, 4 * GIB)
    assert not bonnie.is_cached(bonnie.file_bytes(None, 4 * GIB + 1), 4 * GIB + 1)


@pytest.mark.parametrize(
    ("version", "says"),
    [("1.03d", "is version 1.03d"), ("1.93c", "is version 1.93c"), ("", "does not say its version"),
     *((version, "") for version in ("1.96", "1.97", "1.98", "2.00", "2.00a"))],
)  # fmt: skip
def test_versions_from_1_96_on_are_taken_and_an_older_is_refused_with_what_to_do(version: str, says: str) -> None:
    host = FakeHost("server")
    host.on(("bonnie++", "-h"), stderr=USAGE.format(version) if version else "", exit_code=1)
    with pytest.raises(Unsupported, match=f"server: bonnie\\+\\+ {says}.*store_tools") if says else nullcontext():
        bonnie.check(host, ("bonnie++",))
    assert host.unused() == []
