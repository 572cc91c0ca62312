"""The files of a comparison: the page, the post and the figures say what the answer says."""

import html
import re
from pathlib import Path

import numpy as np
import pytest
from support.rendered import footer, row_names, words_of_marks
from support.runs_to_compare import NEW, OLD, invent, write_kernel

from lab.report.compared import page
from lab.report.compared.answer import answer
from lab.report.compared.comparison import Comparison
from lab.report.compared.confounding import confounding
from lab.report.figures import compared_runs as figures
from lab.report.markdown import md
from lab.report.page.html import policy
from lab.report.prose import times_as_fast
from lab.stats import row_label

CHANGED = {"smb": 1.8, "afp": 0.7}


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Old, new and old again."""
    path = tmp_path_factory.mktemp("results")
    states: list[tuple[str, dict[str, float]]] = [(OLD, {}), (NEW, CHANGED), (OLD, {})]
    return Comparison([write_kernel(path, kernel, invent(at, fast), at) for at, (kernel, fast) in enumerate(states)])


@pytest.fixture(scope="module")
def written(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page")
    paths = page.write_comparison(comparison, place)
    assert sorted(paths) == sorted(path for path in place.rglob("*") if path.is_file())
    return place


def texts(place: Path) -> tuple[str, str]:
    return (place / "compare.html").read_text(), (place / "compare.md").read_text()


def test_page_and_post_have_every_sentence_and_number(comparison: Comparison, written: Path) -> None:
    shown, post = texts(written)
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


def test_a_figure_has_words_for_whoever_does_not_see_it(comparison: Comparison, written: Path) -> None:
    (shown, post), first = texts(written), answer(comparison)[0]
    for name, about in page.ABOUT.items():
        assert f"![{md(f'{about} {first}')}](figures/{name}.png)" in post
        assert f"{about} {html.escape(first)} The tables" in shown


def test_every_interval_has_a_mark_with_its_words(comparison: Comparison, written: Path) -> None:
    words = words_of_marks(written / "figures" / "times-as-fast.svg")
    rows = sum(len(table) for versus in comparison.versus for table in (versus.overall, versus.pooled, versus.cases))
    assert len(words) == len(set(words)) == rows
    for row in comparison.versus[0].pooled.to_dict("records"):
        (marked,) = (text for text in words if text.startswith(f"{row_label(row)}: B is "))
        assert times_as_fast(row, "A") in marked
        assert f"({row['change_pct']:+.1f} %, n = 6 and 6 blocks)" in marked
    assert sum(text.startswith("SMB cp read, MTU 1500: ") for text in words) == 2
    assert sum("not established" in text for text in words) > 10


def test_the_marks_stand_at_the_logarithms_of_the_ratios(comparison: Comparison) -> None:
    axes = figures.times_as_fast_figure(comparison).axes[0]
    drawn = np.sort(np.concatenate([line.get_xdata() for line in axes.lines if line.get_linestyle() == "None"]))
    tables = [table for versus in comparison.versus for table in (versus.overall, versus.pooled, versus.cases)]
    assert drawn == pytest.approx(np.sort(np.log(np.concatenate([table["ratio"] for table in tables]))))


def test_many_rows_leave_cases_out_and_say_so(comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MOST_LINES", 20)
    figure = figures.times_as_fast_figure(comparison)
    names = row_names(figure.axes[0])
    assert names[0] == "all cases"
    assert len(names) == 7
    assert "cases are not drawn: the table has them all" in footer(figure).get_text()


def test_the_same_runs_give_the_same_bytes(comparison: Comparison, written: Path, tmp_path: Path) -> None:
    for path in page.write_comparison(comparison, tmp_path):
        assert path.read_bytes() == (written / path.relative_to(tmp_path)).read_bytes()


@pytest.mark.usefixtures("empty_figures")
def test_a_run_without_a_link_stands_beside_those_with_one(tmp_path: Path) -> None:
    runs = [write_kernel(tmp_path, OLD, invent(at, {}, blocks=2), at) for at in range(2)]
    runs.append(write_kernel(tmp_path, OLD, [one for one in invent(2, {}, blocks=2) if one.protocol != "link"], 2))
    shown = page.write_comparison(Comparison(runs), tmp_path / "page")[-1].read_text()
    assert "What the bare link carries was not measured in both A and C." in shown
    assert '<th scope="row">B write</th>' in shown
    assert '<th scope="row">C write</th>' not in shown


def test_two_runs_of_one_block_have_a_page_too(tmp_path: Path) -> None:
    runs = [write_kernel(tmp_path, OLD, invent(at, {}, blocks=1)[2:3], at) for at in range(2)]
    page.write_comparison(Comparison(runs), tmp_path / "page")
    assert "[no interval]" in (tmp_path / "page" / "compare.html").read_text()
