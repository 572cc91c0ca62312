"""Fixtures for running sweeps over hosts in memory, and for putting back what runs left there."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from support.commands import lab as run_lab_with
from support.memory_host import LINES, World
from support.open_runs import RunLab, hosts_file, interrupted_run
from support.runner_bench import RunBench

from lab.results.run_folder import RunFolder
from lab.run.begin import origin
from lab.run.restore import foreign, put_back
from lab.run.restore.vocabulary import line_format
from lab.run.transfer.recorded import Recorded
from lab.settings.journal import LineFormat

# The operations of hosts in memory, and of real ones
EITHER = LineFormat({**line_format().kinds, **LINES.kinds})


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunBench:
    return RunBench(tmp_path, monkeypatch)


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    """The trials of a new run."""
    return Recorded(RunFolder.create(tmp_path, "try", {}))


@pytest.fixture
def run_lab(capsys: pytest.CaptureFixture[str]) -> RunLab:
    """Runs a command in this process; returns its exit code, output and errors."""
    return partial(run_lab_with, capsys)


@pytest.fixture
def hosts(empty_place: None) -> Path:
    """A hosts file that is right."""
    return hosts_file(Path("hosts.ini"))


@pytest.fixture
def interrupted(world: World, hosts: Path) -> RunFolder:
    """A run of this controller, killed after it had changed the MTU of the server."""
    return interrupted_run(world, "mtu", hosts)


@pytest.fixture
def bait(tmp_path: Path) -> Iterator[Path]:
    """A file that the attacker's command makes; nothing did, at the end."""
    path = tmp_path / "PWNED"
    yield path
    assert not path.exists()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """Two hosts in memory, which is what `lab restore` connects to."""
    made = World(tmp_path)
    monkeypatch.setattr(put_back, "reached", lambda *_: nullcontext((made.hosts, {})))
    for module in (put_back, foreign, origin):
        monkeypatch.setattr(module, "line_format", lambda: EITHER)
    return made
