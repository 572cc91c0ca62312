"""Reports and comparisons for strangers: names are planted wherever a host can put text, and none comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.planted_names import SENTENCE, leaks, write_planted
from support.synthetic_runs import RUN, make_trials, write_run

from lab.report import run_report
from lab.report.compared import page
from lab.report.compared.comparison import Comparison
from lab.results.public import public_copies
from lab.results.run_folder import RunFolder


@pytest.fixture
def planted(tmp_path: Path) -> RunFolder:
    return write_planted(tmp_path)


def test_a_report_is_private_by_default_and_names_all_where_that_is_wanted(
    planted: RunFolder, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run_report.write(planted, tmp_path / "private")
    assert leaks(tmp_path / "private") == []
    request.getfixturevalue("empty_figures")
    run_report.write(planted, tmp_path / "named", planted)
    assert "marsgate" in {name for _, name in leaks(tmp_path / "named")}


def test_a_comparison_is_private_and_a_name_that_one_run_knows_is_masked_in_all(
    planted: RunFolder, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    unnamed = write_run(tmp_path / "other", make_trials(), title=f"{SENTENCE} 2", names={}, hosts=RUN["hosts"])
    for folders in ([planted, unnamed], [unnamed, planted]):
        copies = public_copies(folders)
        page.write(Comparison(copies), tmp_path / "page")
        assert leaks(tmp_path / "page") == []
        titles = [copied.run["title"] for copied in sorted(copies, key=lambda copied: len(copied.run["title"]))]
        assert titles[1] == f"{titles[0]} 2"
    request.getfixturevalue("empty_figures")
    page.write(Comparison([planted, unnamed]), tmp_path / "named")
    assert "marsgate" in {name for _, name in leaks(tmp_path / "named")}
