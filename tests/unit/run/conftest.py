"""Fixtures for running sweeps over hosts in memory, and for putting back what runs left there."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.memory_host import LINES, World, lab_signals
from support.runner_bench import Bench

from lab.hosts import Host
from lab.local import state
from lab.run.begin import resumption
from lab.run.restore import foreign
from lab.run.restore import put_back as restore
from lab.run.restore.vocabulary import line_format
from lab.settings.journal import LineFormat

# Of hosts in memory, and of those that there are
EITHER = LineFormat({**line_format().kinds, **LINES.kinds})


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder to work in, no local lab, and the signals as they were."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(state, "RUN", tmp_path / "no-local-lab")
    with lab_signals():
        yield


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

    @contextmanager
    def reached(*_: Any) -> Iterator[tuple[Mapping[str, Host], dict[str, str]]]:
        yield made.hosts, {}

    monkeypatch.setattr(restore, "reached", reached)
    for module in (restore, foreign, resumption):
        monkeypatch.setattr(module, "line_format", lambda: EITHER)
    return made
