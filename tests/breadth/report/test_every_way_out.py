"""Further outputs of runs full of names, passwords and control characters, beside those of the scenarios."""

from itertools import chain
from pathlib import Path

import pytest
from support import planted, planted_names
from support.synthetic_runs import trial, write_run

from lab.results.opening import open_run

pytestmark = pytest.mark.usefixtures("empty_place", "empty_figures")


@pytest.mark.parametrize("line", [*chain(*planted_names.PUBLISHED_FURTHER.values())])
def test_nothing_else_published_names_anybody(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = planted_names.write_planted(tmp_path / "example", open_run("example").trials())
    planted_names.assert_names_nobody(line, tmp_path, capsys, example.path)


@pytest.mark.parametrize("name", planted_names.SHOWN_FURTHER)
def test_nothing_else_shows_the_owner_a_password(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted_names.assert_shows_no_password(planted_names.SHOWN_FURTHER[name], tmp_path, capsys)


@pytest.mark.parametrize("key", planted.KEYS, ids=lambda key: key[:12])
def test_a_key_of_run_json_alone(capsys: pytest.CaptureFixture[str], key: str) -> None:
    for folder in planted.runs_with(key):
        other = write_run(Path("others"), [trial()])
        for words in (["show"], ["show", "--full"], ["compare", other.path], ["compare", other.path, "--unfinished"]):
            assert planted.lab(capsys, *words, folder.path)
