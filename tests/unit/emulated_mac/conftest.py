"""Fixtures that run programs of an emulated Mac in the test itself."""

from types import ModuleType
from typing import Any

import pytest
from support.emulated_programs import Choose, Run, emulate, runner


@pytest.fixture
def mac(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a program of a Mac of some version, whose kernel has these answers, or functions of their arguments."""
    return runner(monkeypatch, capsys)


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Choose:
    """Chooses the version that a program runs on, and what the kernel answers to each call."""

    def prepare(module: ModuleType, version: str, **answers: Any) -> None:
        emulate(monkeypatch, version, answers, module)

    return prepare
