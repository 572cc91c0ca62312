"""Runs with a text of :mod:`support.planted` in every field: nothing that commands print or write acts on anything.

tests/unit/cli/test_nothing_is_shown_raw.py plants single fields.
"""

from pathlib import Path

import pytest
from support import planted

from lab import stats
from lab.report import registry
from lab.results import run_folder

pytestmark = pytest.mark.usefixtures("empty_place")


@pytest.mark.parametrize("text", ["x" + planted.EVIL, planted.TEXTS[1]], ids=["text", "formula"])
def test_a_run_folder_full_of_it_is_shown_and_reported(capsys: pytest.CaptureFixture[str], text: str) -> None:
    path = planted.write_planted("a", text)
    assert "plant" in planted.lab(capsys, "show", path, "--full")
    for name in registry.OF_RUN:
        planted.lab(capsys, "show", path, "--table", name)
    planted.assert_plain(planted.lab(capsys, "show", path).rstrip("\n").replace("\n", " "), lines=True)
    planted.lab(capsys, "show", path, "--json")
    planted.assert_plain("\n".join(stats.provenance(run_folder.load(path))))  # which a notebook prints
    planted.lab(capsys, "report", path, "--front-matter", "yaml")
    planted.lab(capsys, "report", path, "--format", "gist", "--front-matter", "toml")
    report = path / "report"
    planted.assert_page_of_the_labs((report / "report.html").read_text(encoding="utf-8"))
    for name in ("post.md", "post-appendix.md", "gist.md"):
        planted.assert_post((report / name).read_text(encoding="utf-8"), folded=name == "gist.md")
    planted.assert_no_formula((report / "table.csv").read_text(encoding="utf-8"))
    drawings = sorted((report / "figures").glob("*.svg"))
    assert len(drawings) == 7
    for drawing in drawings:
        planted.assert_drawing(drawing.read_text(encoding="utf-8"))


def test_two_such_runs_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    runs = "--unfinished", planted.write_planted("a"), planted.write_planted("b", planted.TEXTS[2])
    assert "not finished" in planted.lab(capsys, "compare", *runs[1:])
    assert "plant" in planted.lab(capsys, "compare", *runs)
    planted.lab(capsys, "compare", *runs, "--json")
    more = "--to", "page", "--no-redact", "--fail-if", "slower-than 10%"
    planted.lab(capsys, "compare", *runs, planted.write_planted("c", planted.TEXTS[1]), *more)
    planted.assert_drawing(Path("page", "figures", "times-as-fast.svg").read_text(encoding="utf-8"))
    planted.assert_post(Path("page", "compare.md").read_text(encoding="utf-8"))
    planted.assert_page_of_the_labs(Path("page", "compare.html").read_text(encoding="utf-8"))


def test_a_history_of_such_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(12):
        at = f"2030-01-{number + 1:02}T00:00:00+00:00"
        text = planted.TEXTS[number % len(planted.TEXTS)]
        planted.write_planted(f"r{number}", text, saved_as=planted.EVIL, started_at=at)
    assert "plant" in planted.lab(capsys, "history", planted.EVIL, "--fail-if", "slower-than 10%")
    planted.lab(capsys, "history", planted.EVIL, "--json", "--plot", "a.svg")
    planted.assert_drawing(Path("a.svg").read_text(encoding="utf-8"))
    for words in (["elsewhere"], [planted.EVIL, "--fail-if", planted.EVIL], [planted.EVIL, "--plot", planted.EVIL]):
        assert "plant" in planted.lab(capsys, "history", *words)
