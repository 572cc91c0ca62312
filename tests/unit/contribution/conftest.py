"""A contribution of the run that comes with the lab: the whole one, and a copy for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.contributions import of_example


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return of_example(tmp_path_factory.mktemp("contributions") / "whole")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "contribution"))
