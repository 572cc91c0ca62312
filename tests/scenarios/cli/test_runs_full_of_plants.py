"""Whole runs with such a text in every field: what commands print and write of them acts on nothing.

The text is that of :mod:`support.planted`; single fields are planted in tests/unit/cli/test_nothing_is_shown_raw.py.
"""

from pathlib import Path

import pytest
from support.planted import (
    EVIL,
    TEXTS,
    assert_drawing,
    assert_no_formula,
    assert_page_of_the_labs,
    assert_plain,
    assert_post,
)
from support.planted_runs import lab, write_planted

from lab import stats
from lab.report import registry
from lab.results import run_folder

pytestmark = pytest.mark.usefixtures("empty_place")


@pytest.mark.parametrize("text", ["x" + EVIL, TEXTS[1]], ids=["text", "formula"])
def test_a_run_folder_full_of_it_is_shown_and_reported(capsys: pytest.CaptureFixture[str], text: str) -> None:
    path = write_planted("a", text)
    assert "plant" in lab(capsys, "show", path, "--full")
    for name in registry.OF_RUN:
        lab(capsys, "show", path, "--table", name)
    assert_plain(lab(capsys, "show", path).rstrip("\n").replace("\n", " "), lines=True)
    lab(capsys, "show", path, "--json")
    assert_plain("\n".join(stats.provenance(run_folder.load(path))))  # which a notebook prints
    lab(capsys, "report", path, "--front-matter", "yaml")
    lab(capsys, "report", path, "--format", "gist", "--front-matter", "toml")
    report = path / "report"
    assert_page_of_the_labs((report / "report.html").read_text(encoding="utf-8"))
    for name in ("post.md", "post-appendix.md", "gist.md"):
        assert_post((report / name).read_text(encoding="utf-8"), folded=name == "gist.md")
    assert_no_formula((report / "table.csv").read_text(encoding="utf-8"))
    drawings = sorted((report / "figures").glob("*.svg"))
    assert len(drawings) == 7
    for drawing in drawings:
        assert_drawing(drawing.read_text(encoding="utf-8"))


def test_two_such_runs_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    runs = "--unfinished", write_planted("a"), write_planted("b", TEXTS[2])
    assert "not finished" in lab(capsys, "compare", *runs[1:])
    assert "plant" in lab(capsys, "compare", *runs)
    lab(capsys, "compare", *runs, "--json")
    more = "--to", "page", "--no-redact", "--fail-if", "slower-than 10%"
    lab(capsys, "compare", *runs, write_planted("c", TEXTS[1]), *more)
    assert_drawing(Path("page", "figures", "times-as-fast.svg").read_text(encoding="utf-8"))
    assert_post(Path("page", "compare.md").read_text(encoding="utf-8"))
    assert_page_of_the_labs(Path("page", "compare.html").read_text(encoding="utf-8"))


def test_a_history_of_such_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(12):
        at = f"2030-01-{number + 1:02}T00:00:00+00:00"
        write_planted(f"r{number}", TEXTS[number % len(TEXTS)], saved_as=EVIL, started_at=at)
    assert "plant" in lab(capsys, "history", EVIL, "--fail-if", "slower-than 10%")
    lab(capsys, "history", EVIL, "--json", "--plot", "a.svg")
    assert_drawing(Path("a.svg").read_text(encoding="utf-8"))
    for words in (["elsewhere"], [EVIL, "--fail-if", EVIL], [EVIL, "--plot", EVIL]):
        assert "plant" in lab(capsys, "history", *words)
