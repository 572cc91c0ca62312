"""Fixtures: fleets to try, a controller that looks often, and a scheduler of Dask with a worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.fleet import attempt, control, queue
from lab.fleet.queue import TaskState
from support.dask_cluster import Cluster, started
from support.fleets import Bench


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "register"))
    monkeypatch.setenv("LAB_PASSWORD", "x")
    bench = Bench(tmp_path / "fleet")
    monkeypatch.chdir(bench.folder)
    return bench


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller that looks often, and waits for little."""
    monkeypatch.setattr(attempt, "POLL_MS", 20)
    monkeypatch.setattr(queue, "PATIENCE_S", 0.1)
    monkeypatch.setattr(control, "ROUND_S", 0.02)
    for name in ("BUSY_S", "HELD_S", "WORKERS_S"):
        monkeypatch.setattr(control, name, 0.1)


@pytest.fixture
def stood_in(fleet: Bench, fast: None, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Whose attempts start the stand-in."""
    monkeypatch.setattr(attempt, "LAB", fleet.programs.lab)
    monkeypatch.setattr(attempt, "LOOK", fleet.programs.look)
    fleet.pair("a", server="10.9.0.9")
    fleet.pair("b", server="10.9.0.9")
    fleet.write('[[tasks]]\nsweep = "quick.toml"\nrepetitions = 2\n')
    return fleet


@pytest.fixture
def of_berlin(fleet: Bench, tmp_path: Path) -> Iterator[tuple[Bench, Cluster]]:
    """A fleet of two pairs of a site, and a scheduler on loopback with a worker there."""
    fleet.pair("a")
    fleet.pair("b")
    fleet.write(pairs='[[pairs]]\nhosts = ["hosts/*.ini"]\nsite = "berlin"\n', top="most_at_once = 2")
    fleet.take(30)
    with started(tmp_path, "berlin=2") as cluster:
        yield fleet, cluster


def assert_all_is_done_once(fleet: Bench) -> None:
    """Both tasks of such a fleet."""
    assert {one.state for one in fleet.statuses().values()} == {TaskState.DONE}
    assert (fleet.dirty(), len(fleet.finished()), set(fleet.finished().values())) == ([], 2, {1})
    assert fleet.log()["violation"] == 0
