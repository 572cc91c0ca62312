"""This machine with and without the kernel's guard of links."""

from collections.abc import Iterator
from pathlib import Path

import pytest

PROTECTED = Path("/proc/sys/fs/protected_symlinks")


@pytest.fixture(params=["0", "1"])
def links(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whether the kernel keeps root from following others' links; never less than this machine has it."""
    before = PROTECTED.read_text().strip()
    if request.param < before:
        pytest.skip("this machine has fs.protected_symlinks = 1; guests have both")
    PROTECTED.write_text(request.param)
    yield
    PROTECTED.write_text(before)
