"""The ways out of a run: names and passwords are planted wherever a host can put text, and none comes out.

What is published has no names. What the owner alone sees may have names, and no password. The lists of both are checked
against the commands: a command, or a format, that stands in neither fails. tests/breadth has the other lines.
"""

import argparse
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from support.commands import lab
from support.planted_names import SENTENCE, leaks, write_planted
from support.synthetic_runs import RUN, make_trials, write_run
from support.ways_out import (
    NO_WAY_OUT,
    PUBLISHED,
    PUBLISHED_FURTHER,
    SHOWN,
    SHOWN_FURTHER,
    WITH_HOSTS,
    WITH_KERNELS,
    assert_names_nobody,
    assert_shows_no_password,
)

from lab.cli import export
from lab.cli.main import COMMANDS, parser
from lab.report.compared import page
from lab.report.compared.comparison import Comparison
from lab.results.public import public_copies

pytestmark = pytest.mark.usefixtures("empty_place")


def _options(command: str) -> Iterator[argparse.Action]:
    (commands,) = (action for action in parser(command)._actions if isinstance(action, argparse._SubParsersAction))
    return iter(commands.choices[command]._actions)


def test_every_command_is_a_way_out_or_none() -> None:
    published = {*PUBLISHED, *WITH_HOSTS, *WITH_KERNELS}
    assert set(COMMANDS) == published | {*SHOWN, *SHOWN_FURTHER, *NO_WAY_OUT}
    private = {name for name in COMMANDS if any("--no-redact" in one.option_strings for one in _options(name))}
    assert {*private, "contribute"} == published  # that one always replaces them


def test_every_format_that_is_published_is_tried() -> None:
    for name in PUBLISHED:
        tried = {word for line in chain(PUBLISHED[name], PUBLISHED_FURTHER.get(name, ())) for word in line.split()}
        choices = {word for one in _options(name) for word in one.choices or () if word not in export.SCHEMAS[:3]}
        assert choices <= {*tried, "", *export.SCHEMAS}, name


@pytest.mark.parametrize("line", [*chain(*PUBLISHED.values())])
def test_nothing_that_is_published_names_anybody(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    if line != PUBLISHED["report"][0]:  # whose figures are drawn
        request.getfixturevalue("empty_figures")
    assert_names_nobody(line, tmp_path, capsys)


@pytest.mark.parametrize("name", SHOWN)
def test_no_password_is_shown_even_to_the_owner(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], empty_figures: None
) -> None:
    assert_shows_no_password(SHOWN[name], tmp_path, capsys)


def test_a_report_names_all_where_that_is_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], empty_figures: None
) -> None:
    _, _, errors = lab(capsys, "report", write_planted(tmp_path / "results").path, "--to", "out", "--no-redact")
    assert "marsgate" in {name for _, name in leaks(tmp_path / "out")}
    assert errors == ""


def test_a_name_that_one_run_knows_is_masked_in_all(tmp_path: Path, empty_figures: None) -> None:
    planted = write_planted(tmp_path)
    unnamed = write_run(tmp_path / "other", make_trials(), title=f"{SENTENCE} 2", names={}, hosts=RUN["hosts"])
    for folders in ([planted, unnamed], [unnamed, planted]):
        copies = public_copies(folders)
        page.write_comparison(Comparison(copies), tmp_path / "page")
        assert leaks(tmp_path / "page") == []
        titles = [copied.run["title"] for copied in sorted(copies, key=lambda copied: len(copied.run["title"]))]
        assert titles[1] == f"{titles[0]} 2"
    page.write_comparison(Comparison([planted, unnamed]), tmp_path / "named")
    assert "marsgate" in {name for _, name in leaks(tmp_path / "named")}
