"""The sentences of a comparison: what changed, where that is established, and what may be the cause instead."""

from pathlib import Path

import pytest
from support.runs_to_compare import NEW, OLD, invent, without, write_kernel

from lab.report.compared.answer import answer, answers
from lab.report.compared.comparison import Comparison
from lab.report.compared.words import listed, times, times_as_fast


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        ((1.8, 1.6, 2.1), "1.8 [1.6, 2.1]"), ((0.55, 0.5, 0.61), "0.55 [0.50, 0.61]"),
        ((1.02, 0.98, 1.06), "1.02 [0.98, 1.06]"), ((1.2, 0.9, 1.6), "1.20 [0.90, 1.60]"),
        ((1.81, 1.76, 1.85), "1.81 [1.76, 1.85]"), ((25.3, 20.1, 31.9), "25.3 [20.1, 31.9]"),
        ((0.0123, 0.01, 0.015), "0.0123 [0.01, 0.015]"), ((1.25, float("nan"), float("nan")), "1.25 [no interval]"),
    ],
)  # fmt: skip
def test_a_ratio_has_as_many_digits_as_its_interval_deserves(ratio: tuple[float, float, float], text: str) -> None:
    row = dict(zip(("ratio", "ratio_low", "ratio_high"), ratio, strict=True))
    assert times(row) == text
    number, _, interval = text.partition(" ")
    assert times_as_fast(row, "A") == f"{number} times as fast as A {interval}"


def test_many_names_are_cut() -> None:
    assert [listed(list("abcde")[:count], 3) for count in range(6)] == [
        "", "a", "a and b", "a, b and c", "a, b, c and 1 more", "a, b, c and 2 more",
    ]  # fmt: skip


def test_what_is_faster_slower_and_not_told_apart_is_said_by_name(tmp_path: Path) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0)
    new = write_kernel(tmp_path, NEW, invent(2, {"smb": 1.8, "afp": 0.7}), 1)
    said = answer(Comparison([old, new]))
    assert said[0].startswith("B is faster: 1.0")
    assert said[0].endswith("all 12 cases together (+7.7 %).")
    assert said[1].startswith("B is established to be faster, times as fast: SMB cp")
    assert said[2].startswith("B is established to be slower, times as fast: AFP cp")
    assert said[3] == "Not told apart: SSH rsync read and SSH rsync write."
    assert said[4].startswith("The bare link (iperf3) is not told apart")
    assert said[5] == "What else differs between A and B: server kernel 6.1 → 6.9."


def test_where_all_rows_say_the_same_their_ends_are_named(tmp_path: Path) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0)
    slow = write_kernel(tmp_path, NEW, invent(2, {"smb": 0.5, "afp": 0.7, "ssh": 0.6}), 1)
    said = answer(Comparison([old, slow]))
    assert "B is established to be slower in all 6 rows of protocol, tool and direction: from 0.50 times" in said[1]
    assert "(SMB cp" in said[1]
    assert "0.70 times as fast" in said[1]


def test_a_link_that_differs_may_be_the_cause(tmp_path: Path) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0)
    new = write_kernel(tmp_path, NEW, invent(2, {"smb": 0.7}, link=0.7), 1)
    (said,) = (line for line in answer(Comparison([old, new])) if "bare link" in line)
    assert said.startswith("The bare link (iperf3) differs, too: it was 0.7")
    assert "the link, rather than what was changed, may be the cause" in said


def test_one_block_is_too_few(tmp_path: Path) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0)
    new = write_kernel(tmp_path, NEW, invent(2, {"smb": 0.7}, blocks=1), 1)
    said = answer(Comparison([old, new]))
    assert "[no interval]" in said[0]
    assert said[0].endswith("too few blocks to tell that from chance.")
    assert not any("Not told apart" in line for line in said)


def test_a_protocol_that_failed_in_one_run_is_named(tmp_path: Path) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0)
    new = write_kernel(tmp_path, NEW, without(invent(2, {}), "smb"), 1)
    said = answer(Comparison([old, new]))
    assert "all 8 cases together" in said[0]
    assert "Without a block that has all their cases in both runs: SMB cp write and SMB cp read." in said


def test_other_programs_and_cases_of_one_run_alone_are_said(tmp_path: Path) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0)
    fewer = [one for one in invent(2, {}) if one.mtu == 1500]
    new = write_kernel(tmp_path, NEW, fewer, 1, load=[{"block": 1, "client": 0.2, "server": 1.4}])
    said = " ".join(answer(Comparison([old, new])))
    assert "at most 0.0 in A and 1.4 in B" in said
    assert "Not compared are cases that only one of them has (6 of A): MTU 1500, 9000 and 1500." in said


def test_several_runs_have_a_part_each_and_one_of_all(tmp_path: Path) -> None:
    runs = [write_kernel(tmp_path, OLD, invent(seed, {}), seed) for seed in range(3)]
    parts = answers(Comparison(runs))
    assert list(parts) == ["B over A", "C over A", "All of them"]
    assert any("numbers of the local lab" in line for line in parts["All of them"])
    assert "nothing differs between A and C" in " ".join(parts["C over A"])
