"""What holds for every unit test."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test writes need not outlive a power cut. To wait for a busy disk can take longer than the test."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
