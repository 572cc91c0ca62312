"""Contributions of the runs that come with the lab: whole ones, and a copy for each test."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.contributions import contribute_example

from lab.contribution import verify


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return contribute_example(tmp_path_factory.mktemp("contributions") / "whole")


@pytest.fixture(scope="session")
def whole_delay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return contribute_example(tmp_path_factory.mktemp("contributions") / "delay", "example-delay")


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Makes copies of the first, each by a name."""
    return lambda name: Path(shutil.copytree(whole, tmp_path / name))


@pytest.fixture
def folder(copied: Callable[[str], Path]) -> Path:
    return copied("contribution")


@pytest.fixture
def any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """No names are looked for, which is half of the work."""
    monkeypatch.setattr(verify, "_check_names", lambda *_: iter(()))
