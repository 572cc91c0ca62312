"""Fixtures for connecting over SSH as one person does: with a home and an agent, or without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.sshd import empty_home

from lab.hosts import paramiko


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, and no agent: nothing of the person who runs the tests is used or changed."""
    empty_home(monkeypatch, tmp_path)
    return tmp_path


@pytest.fixture
def proxies(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[paramiko.Proxy]]:
    """Every proxy that a test starts; none of them may be left over."""
    made: list[paramiko.Proxy] = []

    class Watched(paramiko.Proxy):
        def __init__(self, command: str):
            super().__init__(command)
            made.append(self)

    monkeypatch.setattr(paramiko, "Proxy", Watched)
    yield made
    assert [proxy.process.args for proxy in made if proxy.process.poll() is None] == []
