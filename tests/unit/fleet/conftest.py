"""Fleets to try."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fleets import Bench


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "register"))
    monkeypatch.setenv("LAB_PASSWORD", "x")
    monkeypatch.chdir(tmp_path)
    return Bench(tmp_path / "fleet")
