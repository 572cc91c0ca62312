"""Run folders of killed runs: of this controller, which its register knows, and of others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

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


def hosts_file(path: Path, instance: str = "") -> Path:
    path.write_text(HOSTS + (f"[lab]\ninstance = {instance}\n" if instance else ""))
    return path


def interrupted_run(world: World, key: str, hosts: Path) -> RunFolder:
    """A run of this controller, killed after it had changed ``key`` of the server."""
    register, config = Register(), load_hosts(hosts)
    folder = write_run(Path("results"), [trial()], **{**origin(config, RUN), "ended": "interrupted"})
    register.enter(folder.text("id"), folder.path, config, 0)
    _change(world, key, Journal(folder.journal_path, LINES, register.seals(folder.text("id"))))
    return folder


def foreign_run(world: World, key: str, **run: Any) -> RunFolder:
    """A run of another controller, or of an earlier lab; its journal is valid but not sealed."""
    folder = write_run(
        Path("results"), [trial()], **{"hosts_file": "hosts.ini", "ended": "interrupted", "instance": None, **run}
    )
    _change(world, key, Journal(folder.journal_path, LINES))
    return folder


def _change(world: World, key: str, journal: Journal) -> None:
    Settings(world.hosts, journal, patience_s=0).apply(knob("server", key, "changed"))
