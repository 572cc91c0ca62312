"""How wide the terminal is that commands print to."""

import sys

import pytest
from support.paths import ROOT
from support.screen import on_screen

from lab.cli import terminal


def test_columns_are_those_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal.columns(sys.stdout) is None
    script = "import sys; from lab.cli.terminal import columns; print(columns(sys.stdout))"
    command = [sys.executable, "-c", script]
    assert on_screen(command, 73, cwd=ROOT)[0] == "73"
    assert on_screen(command, 73, cwd=ROOT, environment={"COLUMNS": "61"})[0] == "61"
    assert on_screen(command, 73, cwd=ROOT, environment={"COLUMNS": "no"})[0] == "73"
    assert on_screen(command, 0, cwd=ROOT)[0] == "80"
    dumb = "from lab.cli.terminal import console; print(console().width)"
    assert on_screen([sys.executable, "-c", dumb], 73, cwd=ROOT, environment={"TERM": "dumb"})[0] == "73"
