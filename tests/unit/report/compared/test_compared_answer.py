"""The sentences of a comparison: what changed, where that is established, and what cannot be told apart."""

from pathlib import Path
from typing import Any

import pytest
from support.runs_to_compare import NEW, OLD, invent, without, write_kernel
from support.synthetic_runs import trial, write_run

from lab.report.compared import over_published
from lab.report.compared.answer import answer, answers
from lab.report.compared.comparison import Comparison
from lab.report.compared.confounding import confounding
from lab.report.prose import listed, times, times_as_fast
from lab.results.trial import Trial


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


def answer_over_old(path: Path, trials: list[Trial], **run: Any) -> list[str]:
    """The answer for a new kernel with these trials over an old one."""
    old = write_kernel(path, OLD, invent(1, {}), 0)
    return answer(Comparison([old, write_kernel(path, NEW, trials, 1, **run)]))


def test_what_is_faster_slower_and_not_told_apart_is_said_by_name(tmp_path: Path) -> None:
    lines = answer_over_old(tmp_path, invent(2, {"smb": 1.8, "afp": 0.7}))
    assert lines[0].startswith("B is faster: 1.0")
    assert lines[0].endswith("all 12 cases together (+7.7 %).")
    assert lines[1].startswith("B is established to be faster, times as fast: SMB cp")
    assert lines[2].startswith("B is established to be slower, times as fast: AFP cp")
    assert lines[3] == "Not told apart: SSH rsync read and SSH rsync write."
    assert lines[4].startswith("The bare link (iperf3) is not told apart")
    assert lines[5] == "What else differs between A and B: server kernel 6.1 → 6.9."


def test_where_all_rows_say_the_same_their_ends_are_named(tmp_path: Path) -> None:
    lines = answer_over_old(tmp_path, invent(2, {"smb": 0.5, "afp": 0.7, "ssh": 0.6}))
    assert "B is established to be slower in all 6 rows of protocol, tool and direction: from 0.50 times" in lines[1]
    assert "(SMB cp" in lines[1]
    assert "0.70 times as fast" in lines[1]


def test_a_link_that_differs_may_be_the_cause(tmp_path: Path) -> None:
    (line,) = (line for line in answer_over_old(tmp_path, invent(2, {"smb": 0.7}, link=0.7)) if "bare link" in line)
    assert line.startswith("The bare link (iperf3) differs, too: it was 0.7")
    assert "the link, rather than what was changed, may be the cause" in line


def test_one_block_is_too_few(tmp_path: Path) -> None:
    lines = answer_over_old(tmp_path, invent(2, {"smb": 0.7}, blocks=1))
    assert "[no interval]" in lines[0]
    assert lines[0].endswith("too few blocks to tell that from chance.")
    assert not any("Not told apart" in line for line in lines)


def test_a_protocol_that_failed_in_one_run_is_named(tmp_path: Path) -> None:
    lines = answer_over_old(tmp_path, without(invent(2, {}), "smb"))
    assert "all 8 cases together" in lines[0]
    assert "Without a block that has all their cases in both runs: SMB cp write and SMB cp read." in lines


def test_other_programs_and_cases_of_one_run_alone_are_said(tmp_path: Path) -> None:
    fewer = [made for made in invent(2, {}) if made.mtu == 1500]
    text = " ".join(answer_over_old(tmp_path, fewer, load=[{"block": 1, "client": 0.2, "server": 1.4}]))
    assert "at most 0.0 in A and 1.4 in B" in text
    assert "Not compared are cases that only one of them has (6 of A): MTU 1500, 9000 and 1500." in text


def test_several_runs_have_a_part_each_and_one_of_all(tmp_path: Path) -> None:
    runs = [write_kernel(tmp_path, OLD, invent(seed, {}), seed) for seed in range(3)]
    parts = answers(Comparison(runs))
    assert list(parts) == ["B over A", "C over A", "All of them"]
    assert any("numbers of the local lab" in line for line in parts["All of them"])
    assert "nothing differs between A and C" in " ".join(parts["C over A"])


CHANGED = {"smb": 1.8, "afp": 0.7}


def sentences(path: Path, *runs: tuple[str, dict[str, float]]) -> list[str]:
    """What cannot be told apart in runs of these kernels and changed speeds, one after another."""
    written = [write_kernel(path, kernel, invent(at, fast), at) for at, (kernel, fast) in enumerate(runs)]
    return confounding(Comparison(written))


def test_one_fact_and_time_are_confounded(tmp_path: Path) -> None:
    assert sentences(tmp_path, (OLD, {}), (NEW, {})) == [
        "A and B differ in one noted fact (server kernel), and in time: these two cannot be told apart."
    ]


def test_several_facts_are_confounded_with_each_other(tmp_path: Path) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0)
    new = write_kernel(tmp_path, NEW, invent(2, {}), 1, {"os": "New OS"}, code_version="2")
    (line,) = confounding(Comparison([old, new]))
    assert "differ in 3 noted facts (lab, server os and server kernel)" in line
    assert line.endswith("which of them is the cause cannot be told apart.")


def test_runs_of_the_same_show_how_far_runs_differ(tmp_path: Path) -> None:
    assert "how far two runs differ by themselves" in sentences(tmp_path, (OLD, {}), (OLD, {}))[0]


def test_old_new_old_says_that_the_change_came_and_went(tmp_path: Path) -> None:
    lines = sentences(tmp_path, (OLD, {}), (NEW, CHANGED), (OLD, {}))
    assert any("A and C have the same facts, and agree within" in line for line in lines)
    assert lines[-1] == (
        "In 4 of the 4 rows where B is told apart from A its interval lies outside those of A and C among themselves: "
        "what changed came with B, and went with it."
    )


def test_without_a_run_after_it_the_time_may_be_the_cause(tmp_path: Path) -> None:
    new = write_kernel(tmp_path, NEW, invent(3, CHANGED), 9)
    runs = [write_kernel(tmp_path, OLD, invent(1, {}), 0), new, write_kernel(tmp_path, OLD, invent(2, {}), 1)]
    assert confounding(Comparison(runs))[-1].endswith(
        "what changed came with B, or with its time: A and C are on one side of it."
    )


def test_a_drift_that_a_repeated_run_shows_too_is_no_change(tmp_path: Path) -> None:
    fast = [dict.fromkeys(("afp", "smb", "ssh"), speed) for speed in (1.0, 0.8, 0.6)]
    lines = sentences(tmp_path, *zip((OLD, NEW, OLD), fast, strict=True))
    assert any("A and C have the same facts, and differ all the same: C is 0.6" in line for line in lines)
    assert lines[-1].startswith("In 0 of the 6 rows where B is told apart from A")
    assert lines[-1].endswith("what changed may be no more than how far runs differ anyway.")


def test_facts_that_did_not_always_change_together_are_told_apart_by_a_third_run(tmp_path: Path) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0)
    both = write_kernel(tmp_path, NEW, invent(2, {"smb": 0.5}), 1, {"os": "New OS"})
    system = write_kernel(tmp_path, OLD, invent(3, {}), 2, {"os": "New OS"})
    lines = confounding(Comparison([old, both, system]))
    assert any(line.startswith("B and C differ in server kernel alone, and in time: C is 1.2") for line in lines)
    assert not any("changed together each time" in line for line in lines)


def test_facts_that_always_changed_together_are_named(tmp_path: Path) -> None:
    states = ((OLD, "Old OS"), (NEW, "New OS"), (OLD, "Old OS"))
    runs = [
        write_kernel(tmp_path, kernel, invent(place, {}), place, {"os": system})
        for place, (kernel, system) in enumerate(states)
    ]
    together = "server os and server kernel changed together each time"
    assert any(together in line for line in confounding(Comparison(runs)))


def read_at(block: int, protocol: str, speed: float) -> Trial:
    """One read with buffers of 512 KiB, at this many MB/s."""
    name = f"{protocol}-{block}"
    return trial(trial_id=name, case_id=name, block=block, protocol=protocol, tool="cp", direction="read", store="ram",
                 tcp_space=512 * 1024, size_bytes=100_000_000, elapsed_s=100 / speed)  # fmt: skip


def answer_of(folder: Path, smb: float) -> str:
    """The answer for six blocks in which AFP reads at 60 MB/s and SMB at this; in 2011 it was 64.0 and 41.5."""
    trials = [read_at(block, "afp", 60 + block / 10) for block in range(6)]
    trials += [read_at(block, "smb", smb + block / 10) for block in range(6)]
    return " ".join(over_published.answer(over_published.PublishedComparison(write_run(folder, trials))))


def test_a_change_that_went_the_other_way_is_named(tmp_path: Path) -> None:
    opposite = "In 1 B changed the other way, beyond chance: SMB cp read, TCP 512 KiB, against AFP."
    assert opposite in answer_of(tmp_path / "faster", 80)
    for name, smb in (("same", 60.0), ("slower", 39.0)):
        assert "the other way" not in answer_of(tmp_path / name, smb)
