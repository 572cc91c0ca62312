"""Whole tables of every run that was kept, on screens of every width."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.kept_tables import RUNS, assert_whole_at_every_width, kept_tables


@pytest.mark.parametrize("run", RUNS)
def test_every_word_of_kept_runs_is_shown_at_every_width(run: str, tmp_path: Path) -> None:
    tables = kept_tables(run, tmp_path)
    assert tables
    assert_whole_at_every_width(tables)
