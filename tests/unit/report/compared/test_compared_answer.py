"""A comparison of runs: its sentences, and the page, post and figures that say the same."""

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.rendered import Like, footer, lacking, row_names, words_of_marks
from support.runs_to_compare import NEW, OLD, invent, without, write_kernel
from support.synthetic_runs import trial, write_run

from lab.report.compared import over_published, page
from lab.report.compared.answer import answer, answers
from lab.report.compared.comparison import Comparison
from lab.report.compared.confounding import confounding
from lab.report.figures import compared_runs as figures
from lab.report.markdown import md
from lab.report.page.html import policy
from lab.report.prose import listed, times, times_as_fast
from lab.results.trial import Trial
from lab.stats import row_label

CHANGED = {"smb": 1.8, "afp": 0.7}


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
    assert answer_over_old(tmp_path, invent(2, CHANGED))[:6] == [
        Like("B is faster: 1.0...all 12 cases together (+7.7 %)."),
        Like("B is established to be faster, times as fast: SMB cp..."),
        Like("B is established to be slower, times as fast: AFP cp..."),
        "Not told apart: SSH rsync read and SSH rsync write.",
        Like("The bare link (iperf3) is not told apart..."),
        "What else differs between A and B: server kernel 6.1 → 6.9.",
    ]


def test_where_all_rows_say_the_same_their_ends_are_named(tmp_path: Path) -> None:
    line = answer_over_old(tmp_path, invent(2, {"smb": 0.5, "afp": 0.7, "ssh": 0.6}))[1]
    slower = "...B is established to be slower in all 6 rows of protocol, tool and direction: from 0.50 times"
    assert line == Like(f"{slower}...(SMB cp...0.70 times as fast...")


def test_a_link_that_differs_may_be_the_cause(tmp_path: Path) -> None:
    (line,) = (line for line in answer_over_old(tmp_path, invent(2, {"smb": 0.7}, link=0.7)) if "bare link" in line)
    cause = "the link, rather than what was changed, may be the cause"
    assert line == Like(f"The bare link (iperf3) differs, too: it was 0.7...{cause}...")


def test_one_block_is_too_few_and_has_a_page_too(tmp_path: Path) -> None:
    first, *others = answer_over_old(tmp_path, invent(2, {"smb": 0.7}, blocks=1))
    assert first == Like("...[no interval]...too few blocks to tell that from chance.")
    assert "Not told apart" not in " ".join([first, *others])
    runs = [write_kernel(tmp_path, OLD, invent(at, {}, blocks=1)[2:3], at) for at in range(2)]
    page.write_comparison(Comparison(runs), tmp_path / "page")
    assert "[no interval]" in (tmp_path / "page" / "compare.html").read_text()


def test_a_protocol_that_failed_and_cases_of_one_run_alone_are_named(tmp_path: Path) -> None:
    lines = answer_over_old(tmp_path / "failed", without(invent(2, {}), "smb"))
    assert "all 8 cases together" in lines[0]
    assert "Without a block that has all their cases in both runs: SMB cp write and SMB cp read." in lines
    fewer = [made for made in invent(2, {}) if made.mtu == 1500]
    text = " ".join(answer_over_old(tmp_path / "fewer", fewer, load=[{"block": 1, "client": 0.2, "server": 1.4}]))
    alone = "Not compared are cases that only one of them has (6 of A): MTU 1500, 9000 and 1500."
    assert not lacking(text, "at most 0.0 in A and 1.4 in B", alone)


def test_several_runs_have_a_part_each_and_one_of_all(tmp_path: Path) -> None:
    runs = [write_kernel(tmp_path, OLD, invent(seed, {}), seed) for seed in range(3)]
    parts = answers(Comparison(runs))
    assert list(parts) == ["B over A", "C over A", "All of them"]
    assert any("numbers of the local lab" in line for line in parts["All of them"])
    assert "nothing differs between A and C" in " ".join(parts["C over A"])


def compared(path: Path, *runs: dict[str, Any]) -> Comparison:
    """Runs an hour apart that differ from one of the old kernel in what each says."""
    abouts: list[dict[str, Any]] = [{"kernel": OLD, "faster": {}, "hours": at, **run} for at, run in enumerate(runs)]
    trials = [invent(at, about.pop("faster")) for at, about in enumerate(abouts)]
    return Comparison([write_kernel(path, trials=made, **about) for made, about in zip(trials, abouts, strict=True)])


UPGRADED: dict[str, Any] = {"kernel": NEW, "faster": CHANGED}
NEW_OS = {"os": "New OS"}
ONE_FACT = "A and B differ in one noted fact (server kernel), and in time: these two cannot be told apart."
TWO_FACTS = "A and B differ in 2 noted facts (server os and server kernel)...which of them is the cause...told apart."
AGREE = "A and C have the same facts, and agree within..."
OUTSIDE = "In 4 of the 4 rows where B is told apart from A its interval lies outside those of A and C among themselves"


@pytest.mark.parametrize(
    ("runs", "sentences"),
    [
        ([{}, {"kernel": NEW}], [ONE_FACT]),
        ([{}, {"kernel": NEW, "facts": NEW_OS, "code_version": "2"}],
         ["...differ in 3 noted facts (lab, server os and server kernel)...which of them is the cause cannot be told "
          "apart."]),
        ([{}, {}], ["...how far two runs differ by themselves..."]),
        ([{}, UPGRADED, {}], [ONE_FACT, AGREE, f"{OUTSIDE}: what changed came with B, and went with it."]),
        ([{}, UPGRADED | {"hours": 9}, {}],
         [ONE_FACT, AGREE, "...what changed came with B, or with its time: A and C are on one side of it."]),
        ([{}, {"kernel": NEW, "faster": dict.fromkeys(("afp", "smb", "ssh"), 0.8)},
          {"faster": dict.fromkeys(("afp", "smb", "ssh"), 0.6)}],
         [ONE_FACT, "A and C have the same facts, and differ all the same: C is 0.6...",
          "In 0 of the 6 rows where B is told apart from A...what changed may be no more than how far runs differ "
          "anyway."]),
        ([{}, {"kernel": NEW, "faster": {"smb": 0.5}, "facts": NEW_OS}, {"facts": NEW_OS}],
         [TWO_FACTS, "A and C differ in one noted fact (server os)...",
          "B and C differ in server kernel alone, and in time: C is 1.2..."]),
        ([{}, {"kernel": NEW, "facts": NEW_OS}, {}],
         [TWO_FACTS, "In these runs server os and server kernel changed together each time...", AGREE,
          "B is told apart from A in no row."]),
    ],
    ids=["one fact", "three facts", "the same", "old, new, old", "no run after it", "a drift", "told apart by a third",
         "always together"],
)  # fmt: skip
def test_what_runs_cannot_tell_apart(tmp_path: Path, runs: list[dict[str, Any]], sentences: list[str]) -> None:
    assert confounding(compared(tmp_path, *runs)) == list(map(Like, sentences))


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


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return compared(tmp_path_factory.mktemp("results"), {}, UPGRADED, {})


@pytest.fixture(scope="module")
def written(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page")
    paths = page.write_comparison(comparison, place)
    assert sorted(paths) == sorted(path for path in place.rglob("*") if path.is_file())
    return place


def test_page_and_post_have_every_sentence_and_number(comparison: Comparison, written: Path) -> None:
    shown, post = ((written / f"compare.{kind}").read_text() for kind in ("html", "md"))
    for sentence in (*answer(comparison), *confounding(comparison)):
        assert html.escape(sentence) in shown
        assert md(sentence) in post
    for versus in comparison.versus:
        for row in versus.cases.to_dict("records"):
            assert f"<td>{row['low_pct']:+.1f} … {row['high_pct']:+.1f}</td>" in shown
            assert f"| {row['low_pct']:+.1f} … {row['high_pct']:+.1f} |" in post
    assert policy() in shown
    assert not re.search(r"https?:", re.sub(r'xmlns="[^"]*"', "", shown))
    assert post.count("](figures/") == len(figures.ALL)
    first = answer(comparison)[0]
    for name, about in page.ABOUT.items():  # for readers who do not see the figures
        assert f"![{md(f'{about} {first}')}](figures/{name}.png)" in post
        assert f"{about} {html.escape(first)} The tables" in shown


def test_every_interval_has_a_mark_with_its_words_at_its_ratio(comparison: Comparison, written: Path) -> None:
    words = words_of_marks(written / "figures" / "times-as-fast.svg")
    tables = [table for versus in comparison.versus for table in (versus.overall, versus.pooled, versus.cases)]
    ratios = np.concatenate([table["ratio"] for table in tables])
    assert len(words) == len(set(words)) == len(ratios)
    axes = figures.times_as_fast_figure(comparison).axes[0]
    places = np.concatenate([line.get_xdata() for line in axes.lines if line.get_linestyle() == "None"])
    assert np.sort(places) == pytest.approx(np.sort(np.log(ratios)))
    for row in comparison.versus[0].pooled.to_dict("records"):
        (marked,) = (text for text in words if text.startswith(f"{row_label(row)}: B is "))
        assert times_as_fast(row, "A") in marked
        assert f"({row['change_pct']:+.1f} %, n = 6 and 6 blocks)" in marked
    assert sum(text.startswith("SMB cp read, MTU 1500: ") for text in words) == 2
    assert sum("not established" in text for text in words) > 10


def test_many_rows_leave_cases_out_and_say_so(comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MOST_LINES", 20)
    figure = figures.times_as_fast_figure(comparison)
    first, *others = row_names(figure.axes[0])
    assert (first, len(others)) == ("all cases", 6)
    assert "cases are not drawn: the table has them all" in footer(figure).get_text()


def test_the_same_runs_give_the_same_bytes(comparison: Comparison, written: Path, tmp_path: Path) -> None:
    for path in page.write_comparison(comparison, tmp_path):
        assert path.read_bytes() == (written / path.relative_to(tmp_path)).read_bytes()


@pytest.mark.usefixtures("empty_figures")
def test_a_run_without_a_link_stands_beside_those_with_one(tmp_path: Path) -> None:
    runs = [write_kernel(tmp_path, OLD, invent(at, {}, blocks=2), at) for at in range(2)]
    runs.append(write_kernel(tmp_path, OLD, [made for made in invent(2, {}, blocks=2) if made.protocol != "link"], 2))
    shown = page.write_comparison(Comparison(runs), tmp_path / "page")[-1].read_text()
    b, c = (f'<th scope="row">{letter} write</th>' for letter in "BC")
    assert lacking(shown, "What the bare link carries was not measured in both A and C.", b, c) == [c]
