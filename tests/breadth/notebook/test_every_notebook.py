"""Each notebook on what comes with the lab, but for the one that tests/scenarios/notebook has, and on planted runs."""

from pathlib import Path

import pytest
from support.commands import lab
from support.notebooks import SHOWN, assert_runs_on_what_comes_with_the_lab
from support.planted_messages import PASSWORDS
from support.planted_names import found_in, leaks, write_two


@pytest.mark.parametrize("name", [name for name in SHOWN if name != "explore"])
def test_every_notebook_runs_and_its_page_fetches_nothing(name: str, tmp_path: Path) -> None:
    assert_runs_on_what_comes_with_the_lab(name, tmp_path)


@pytest.mark.parametrize("words", [["explore"], ["why-slow"], ["answers-2011"], ["design"], ["compare", "{other}"]])
def test_the_page_of_a_run_names_nobody(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (page := tmp_path / "page").mkdir()
    run, other = write_two(tmp_path / "results")
    name, *more = words
    rest = [word.format(other=other) for word in more]
    code, output, errors = lab(capsys, "notebook", name, run, *rest, "--export", page / "page.html")
    assert (code, output) == (0, f"{page / 'page.html'}\n"), errors
    assert leaks(page) == []
    assert found_in(output.encode()) == []
    assert "nas-of-ann (host): host-1\n" in errors
    assert found_in(errors.encode(), PASSWORDS) == []
