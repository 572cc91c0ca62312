from collections.abc import Callable
from pathlib import Path

import pytest
from support.store_hosts import StoreLab


@pytest.fixture
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> StoreLab:
    """A run that makes the kind of store that the file of tests is about."""
    new_lab: Callable[[Path], StoreLab] = request.module.Lab
    return new_lab(tmp_path)
