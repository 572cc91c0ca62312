"""Run folders as runs leave them that were killed: of this controller, known to its register, and of others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from lab.cli import main as cli
from lab.hosts.hosts_file import load_hosts
from lab.results.run_folder import RunFolder
from lab.run.begin.origin import origin
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from lab.settings.register import Register
from support.input_files import HOSTS
from support.memory_host import LINES, World, knob
from support.synthetic_runs import RUN, trial, write_run

RunLab: TypeAlias = Callable[..., tuple[int, str, str]]  # run_lab without its capsys: the fixture of this name


def run_lab(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> tuple[int, str, str]:
    """Exit code, output and errors of a command in this process; never a traceback."""
    code = cli.main([str(word) for word in argv])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return code, printed.out, printed.err


def hosts_file(path: Path, instance: str = "") -> Path:
    """A hosts file that is right."""
    path.write_text(HOSTS + (f"[lab]\ninstance = {instance}\n" if instance else ""))
    return path


def interrupted_run(world: World, key: str, hosts: Path, results: Path = Path("results")) -> RunFolder:
    """A run of this controller's that was killed after it had changed this key of the server."""
    register, config = Register(), load_hosts(hosts)
    folder = write_run(results, [trial()], **{**origin(config, RUN), "ended": "interrupted"})
    register.enter(folder.text("id"), folder.path, config, 0)
    _change(world, key, Journal(folder.journal_path, LINES, register.seals(folder.text("id"))))
    return folder


def foreign_run(world: World, key: str, results: Path = Path("results"), **run: Any) -> RunFolder:
    """A run that somebody else's controller began, or an earlier lab: with a journal that is right, but for seals."""
    folder = write_run(
        results, [trial()], **{"hosts_file": "hosts.ini", "ended": "interrupted", "instance": None, **run}
    )
    _change(world, key, Journal(folder.journal_path, LINES))
    return folder


def _change(world: World, key: str, journal: Journal) -> None:
    Settings(world.hosts, journal, patience_s=0).apply(knob("server", key, "changed"))
