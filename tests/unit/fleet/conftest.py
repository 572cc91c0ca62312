"""Fleets to try."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fleets import Bench

from lab.fleet import attempt, control


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "register"))
    monkeypatch.setenv("LAB_PASSWORD", "x")
    bench = Bench(tmp_path / "fleet")
    monkeypatch.chdir(bench.folder)
    return bench


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller that looks often, and waits for little."""
    monkeypatch.setattr(attempt, "EACH_MS", 20)
    monkeypatch.setattr(control, "ROUND_S", 0.02)
    for name in ("BUSY_S", "HELD_S", "PLACES_S"):
        monkeypatch.setattr(control, name, 0.1)
