"""A host's own journal on a real sshd, in a place of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.noted_file import Connect, Place
from support.sshd import Sshd, reached_by


@pytest.fixture(scope="module")
def sshd(one_sshd: Sshd, request: pytest.FixtureRequest) -> Sshd:
    """By paramiko, where a test does not ask for both."""
    return reached_by(request, one_sshd)


@pytest.fixture
def place(connect: Connect, tmp_path: Path) -> Place:
    return Place(connect, tmp_path)
