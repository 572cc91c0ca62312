"""A place for commands to run in: a fixture for the conftest.py of their tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.local import state
from support.memory_host import lab_signals


@pytest.fixture
def empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder to work in, no local lab, and the signals as they were."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(state, "RUN", tmp_path / "no-local-lab")
    with lab_signals():
        yield
