"""Fixtures that run a command."""

import pytest
from support import commands
from support.commands import Command, Lab


@pytest.fixture(autouse=True)
def _empty_place(empty_place: None) -> None:
    """Each command runs in an empty folder."""


@pytest.fixture
def lab(capsys: pytest.CaptureFixture[str]) -> Lab:
    """Runs a command: exit code, standard output, standard error."""
    return lambda *argv: commands.lab(capsys, *argv)


@pytest.fixture
def refused(lab: Lab) -> Command:
    """Runs a command that ends with exit code 2 and prints a message alone: the message."""

    def refuse(*argv: object) -> str:
        code, out, err = lab(*argv)
        assert (code, out) == (2, "")
        return err

    return refuse


@pytest.fixture
def done(lab: Lab) -> Command:
    """Runs a command that ends with exit code 0: its standard output."""

    def do(*argv: object) -> str:
        code, out, err = lab(*argv)
        assert code == 0, err
        return out

    return do
