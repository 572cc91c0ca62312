"""What a host or a file put into any field does nothing to a terminal, a page, a picture or a spreadsheet.

The text of :mod:`support.planted` stands in every field of every file that the commands read; the fields come from the
types, so a new one is covered. Whatever a command prints or writes is then looked at.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from support.planted import (
    EVIL,
    TEXTS,
    assert_drawing,
    assert_no_formula,
    assert_page_of_the_labs,
    assert_plain,
    assert_post,
    planted_fields,
)
from support.planted_runs import lab, write_planted
from support.synthetic_runs import RUN, trial, write_run

from lab import stats
from lab.cli import show
from lab.design.factors import Direction
from lab.report.render import rich_table
from lab.report.tables import TextTable
from lab.results import run_folder
from lab.results.trial import _RUN_TYPES, FIELDS
from lab.run.progress import shown
from lab.run.runner import Progress

pytestmark = pytest.mark.usefixtures("empty_place")


@pytest.mark.parametrize("text", ["x" + EVIL, TEXTS[1]], ids=["text", "formula"])
def test_a_run_folder_full_of_it_is_shown_and_reported(capsys: pytest.CaptureFixture[str], text: str) -> None:
    path = write_planted("a", text)
    assert "plant" in lab(capsys, "show", path, "--full")
    for name in show.TABLES:
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


def test_a_cell_of_a_table_is_one_line() -> None:
    drawn = rich_table(TextTable([EVIL], [[EVIL]], EVIL), [EVIL])
    texts = [drawn.above, *drawn.below, *drawn.headings, *(cell for row in drawn.rows for cell in row)]
    assert len(texts) == 4
    for text in texts:
        assert_plain(str(text))
        assert "\n" not in str(text)
    for width in (60, 30_000):
        screen = io.StringIO()
        Console(file=screen, width=width, color_system=None).print(drawn)
        assert_plain(screen.getvalue())


def test_two_such_runs_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    runs = "--unfinished", write_planted("a"), write_planted("b", TEXTS[2])
    assert "not finished" in lab(capsys, "compare", *runs[1:])
    assert "plant" in lab(capsys, "compare", *runs)
    lab(capsys, "compare", *runs, "--json")
    lab(
        capsys,
        "compare",
        *runs,
        write_planted("c", TEXTS[1]),
        "--to",
        "page",
        "--no-redact",
        "--fail-if",
        "slower-than 10%",
    )
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


def test_runs_that_cannot_be_compared_are_named_so(capsys: pytest.CaptureFixture[str]) -> None:
    other = write_run(Path("results"), [trial(protocol=EVIL, tool=EVIL)])
    assert "no case has a good trial in both" in lab(capsys, "compare", "--unfinished", write_planted("a"), other.path)


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_a_trial_alone(capsys: pytest.CaptureFixture[str], field: str) -> None:
    for name, value in (("text", EVIL), ("list", [EVIL]), ("object", {EVIL: {EVIL: EVIL}})):
        folder = write_run(Path("results") / name, [trial()])
        folder.trials_path.write_text(json.dumps(trial().to_json() | {field: value}) + "\n")
        assert lab(capsys, "show", folder.path)


@pytest.mark.parametrize("key", [*_RUN_TYPES, "schema", EVIL], ids=lambda key: key[:12])
def test_a_key_of_run_json_alone(capsys: pytest.CaptureFixture[str], key: str) -> None:
    for number, value in enumerate((EVIL, [EVIL], {EVIL: EVIL}, {"client": {EVIL: EVIL}})):
        folder = write_run(Path("results") / str(number), [trial()])
        (folder.path / "run.json").write_text(json.dumps({**RUN, "schema": 2, "name": "x", key: value}))
        other = write_run(Path("others"), [trial()])
        for words in (["show"], ["show", "--full"], ["compare", other.path], ["compare", other.path, "--unfinished"]):
            assert lab(capsys, *words, folder.path)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress_lines(is_terminal: bool) -> None:
    from lab.design.blocks import Slot
    from lab.design.case import Case

    output = io.StringIO()
    console = Console(file=output, force_terminal=is_terminal, color_system=None, width=30_000)
    fields = {name: value for name, value in planted_fields(Case, EVIL).items() if name != "options"}
    base = Case(protocol="afp", tool="cp", direction=Direction.WRITE, workload="file", size_bytes=1, store="ram", mtu=1,
                tcp_space=1, options=((EVIL, EVIL),))  # fmt: skip
    case = Case(**{**base.__dict__, **fields})
    with shown(console) as display:
        for status in ("ok", "void"):
            done = trial(status=status, reason=EVIL)
            display(Progress(Slot(1, 1, case), 1, 2, 1.0, done, 1, 2))
    printed = output.getvalue()
    assert "[red]x[/red]" in printed
    assert not [raw for raw in ("\x1b]", "\x1b[2J\x9b", "\x9b", "\u202e", "\u2066", "\x08", "\x7f") if raw in printed]
    assert not [line for line in printed.splitlines() if line.startswith("forged")]
