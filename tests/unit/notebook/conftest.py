"""Notebooks are called in an empty folder, and no run is named to them."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("LAB_RUN", "LAB_OTHER_RUN", "LAB_NAMES"):
        monkeypatch.delenv(name, raising=False)
