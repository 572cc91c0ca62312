"""The other ways out of a run that is full of names and passwords, beside those of tests/scenarios/results."""

from itertools import chain
from pathlib import Path

import pytest
from support.planted_names import write_planted
from support.ways_out import PUBLISHED_FURTHER, SHOWN_FURTHER, assert_names_nobody, assert_shows_no_password

from lab.results.opening import open_run

pytestmark = pytest.mark.usefixtures("empty_place", "empty_figures")


@pytest.mark.parametrize("line", [*chain(*PUBLISHED_FURTHER.values())])
def test_nothing_else_that_is_published_names_anybody(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = write_planted(tmp_path / "example", open_run("example").trials())
    assert_names_nobody(line, tmp_path, capsys, example.path)


@pytest.mark.parametrize("name", SHOWN_FURTHER)
def test_nothing_else_shows_a_password_to_the_owner(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_shows_no_password(SHOWN_FURTHER[name], tmp_path, capsys)
