"""Each notebook on what comes with the lab, but for the one that tests/scenarios/notebook has."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.notebooks import SHOWN, assert_runs_on_what_comes_with_the_lab


@pytest.mark.parametrize("name", [name for name in SHOWN if name != "explore"])
def test_every_notebook_runs_and_its_page_fetches_nothing(name: str, tmp_path: Path) -> None:
    assert_runs_on_what_comes_with_the_lab(name, tmp_path)
