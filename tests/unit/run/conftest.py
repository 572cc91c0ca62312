"""Fixtures for running sweeps over hosts in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runner_bench import Bench


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)
