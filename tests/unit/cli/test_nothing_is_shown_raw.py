"""What a host or a file put into any field does nothing to a terminal, a page, a picture or a spreadsheet.

The text of :mod:`support.planted` stands in every field of every file that the commands read; the fields come from the
types, so a new one is covered. Whatever a command prints is then looked at; what is written of whole runs, in
tests/scenarios/cli/test_runs_full_of_plants.py.
"""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from support.planted import EVIL, assert_plain, planted_fields
from support.planted_runs import KEYS, lab, runs_with, write_planted
from support.synthetic_runs import trial, write_run

from lab.base.errors import BadInput
from lab.cli.progress import shown
from lab.design.factors import Direction
from lab.report.fitted_table import rich_table
from lab.report.tables import TextTable
from lab.results import run_folder
from lab.results.trial import FIELDS
from lab.run.runner import Progress

pytestmark = pytest.mark.usefixtures("empty_place")


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


def test_runs_that_cannot_be_compared_are_named_so(capsys: pytest.CaptureFixture[str]) -> None:
    other = write_run(Path("results"), [trial(protocol=EVIL, tool=EVIL)])
    assert "no case has a good trial in both" in lab(capsys, "compare", "--unfinished", write_planted("a"), other.path)


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_a_trial_alone(capsys: pytest.CaptureFixture[str], field: str) -> None:
    for name, value in (("text", EVIL), ("list", [EVIL]), ("object", {EVIL: {EVIL: EVIL}})):
        folder = write_run(Path("results") / name, [trial()])
        folder.trials_path.write_text(json.dumps(trial().to_json() | {field: value}) + "\n")
        assert lab(capsys, "show", folder.path)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:12])
def test_a_key_of_run_json_alone_is_read_or_refused(key: str) -> None:
    """What all commands print of such a run is looked at in tests/breadth/cli/test_keys_of_run_json.py."""
    for folder in runs_with(key):
        try:
            run_folder.load(folder.path)
        except BadInput as error:
            assert_plain(error.brief())


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
