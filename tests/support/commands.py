"""The `lab` command, run in this process."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.cli import main as cli
from support.memory_host import lab_signals

Lab = Callable[..., tuple[int, str, str]]  # :func:`lab` with capsys
Command = Callable[..., str]  # the same for a command whose exit code is known


def lab(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> tuple[int, str, str]:
    """Run a command: exit code, standard output, standard error."""
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


@contextmanager
def must_end_within(seconds: int) -> Iterator[None]:
    """Fail the test if the block takes longer; installs the lab's signal handlers as a command does."""
    with lab_signals():
        old = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it does not end"))
        signal.alarm(seconds)
        try:
            yield
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, old)
