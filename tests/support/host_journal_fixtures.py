"""Fixtures for a host's own journal on a real sshd, in a place of the test's own."""

from pathlib import Path

import pytest

from support import sshd_fixtures
from support.noted_file import Connect, Place
from support.sshd import Sshd, reached_by

connect, one_sshd, wire = sshd_fixtures.connect, sshd_fixtures.one_sshd, sshd_fixtures.wire


@pytest.fixture(scope="module")
def sshd(one_sshd: Sshd, request: pytest.FixtureRequest) -> Sshd:
    """By paramiko, where a test does not ask for both."""
    return reached_by(request, one_sshd)


@pytest.fixture
def place(connect: Connect, tmp_path: Path) -> Place:
    return Place(connect, tmp_path)
