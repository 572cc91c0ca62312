"""The `lab` command, run as a person types it, in this process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cli import main as cli

Lab = Callable[..., tuple[int, str, str]]  # :func:`lab` with capsys
Command = Callable[..., str]  # the same of a command whose exit code is known


def lab(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> tuple[int, str, str]:
    """Run a command as ``main`` does; exit code, standard output, standard error."""
    try:
        code = cli.main([str(word) for word in argv])
    except SystemExit as ended:  # argparse
        code = ended.code if isinstance(ended.code, int) else -1
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return code, printed.out, printed.err


def refusal(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> str:
    """The error of a command that refuses its input."""
    code, _, error = lab(capsys, *argv)
    assert code == 2
    return error


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text)
    return path
