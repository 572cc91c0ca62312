"""Names and passwords are planted wherever a host can put text, and no output of a run shows them.

Published output has no names; output for the owner may have names, but no password. A command or a format that is in
neither list fails. tests/breadth has further commands.
"""

import argparse
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from support import planted_names as planted
from support.commands import lab
from support.synthetic_runs import RUN, make_trials, write_run

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
    published = {*planted.PUBLISHED, *planted.WITH_HOSTS, *planted.WITH_KERNELS}
    assert set(COMMANDS) == published | {*planted.SHOWN, *planted.SHOWN_FURTHER, *planted.NO_WAY_OUT}
    private = {name for name in COMMANDS if any("--no-redact" in option.option_strings for option in _options(name))}
    assert {*private, "contribute"} == published  # contribute always replaces names


def test_every_format_that_is_published_is_tried() -> None:
    for name in planted.PUBLISHED:
        lines = (*planted.PUBLISHED[name], *planted.PUBLISHED_FURTHER.get(name, ()))
        tried = {word for line in lines for word in line.split()}
        choices = {word for option in _options(name) for word in option.choices or () if word not in export.SCHEMAS[:3]}
        assert choices <= {*tried, "", *export.SCHEMAS}, name


@pytest.mark.parametrize("line", [*chain(*planted.PUBLISHED.values())])
def test_nothing_that_is_published_names_anybody(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    if line != planted.PUBLISHED["report"][0]:  # this report has drawn figures
        request.getfixturevalue("empty_figures")
    planted.assert_names_nobody(line, tmp_path, capsys)


@pytest.mark.parametrize("name", planted.SHOWN)
def test_no_password_is_shown_even_to_the_owner(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], empty_figures: None
) -> None:
    planted.assert_shows_no_password(planted.SHOWN[name], tmp_path, capsys)


def test_a_report_without_redaction(tmp_path: Path, capsys: pytest.CaptureFixture[str], empty_figures: None) -> None:
    _, _, errors = lab(capsys, "report", planted.write_planted(tmp_path / "results").path, "--to", "out", "--no-redact")
    assert errors == ""
    assert "marsgate" in {name for _, name in planted.leaks(tmp_path / "out")}


def test_a_name_that_one_run_knows_is_masked_in_all(tmp_path: Path, empty_figures: None) -> None:
    with_names = planted.write_planted(tmp_path)
    unnamed = write_run(tmp_path / "other", make_trials(), title=f"{planted.SENTENCE} 2", names={}, hosts=RUN["hosts"])
    for folders in ([with_names, unnamed], [unnamed, with_names]):
        copies = public_copies(folders)
        page.write_comparison(Comparison(copies), tmp_path / "page")
        assert planted.leaks(tmp_path / "page") == []
        titles = [copied.run["title"] for copied in sorted(copies, key=lambda copied: len(copied.run["title"]))]
        assert titles[1] == f"{titles[0]} 2"
    page.write_comparison(Comparison([with_names, unnamed]), tmp_path / "named")
    assert "marsgate" in {name for _, name in planted.leaks(tmp_path / "named")}
