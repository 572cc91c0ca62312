"""The controller, with a scheduler and a worker that are programs of their own, and are killed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.dask_cluster import Cluster, started
from support.fleets import Bench, controller, wait_until

from lab.fleet.queue import TaskState

pytestmark = pytest.mark.usefixtures("fast")


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
    assert {one.state for one in fleet.statuses().values()} == {TaskState.DONE}
    assert (fleet.dirty(), len(fleet.finished()), set(fleet.finished().values())) == ([], 2, {1})
    assert fleet.log()["violation"] == 0


def test_a_worker_that_is_killed_loses_nothing(of_berlin: tuple[Bench, Cluster]) -> None:
    fleet, cluster = of_berlin
    with ThreadPoolExecutor() as pool:
        running = pool.submit(fleet.run, address=cluster.address)
        wait_until(lambda: len(fleet.pids()) == 2)
        fleet.take(0)
        cluster.worker.kill()
        wait_until(lambda: not fleet.dirty())
        cluster.start_worker()
        running.result(120)
    assert_all_is_done_once(fleet)


def test_where_no_worker_is_left_it_says_so_and_a_stop_ends_it(of_berlin: tuple[Bench, Cluster]) -> None:
    fleet, cluster = of_berlin
    with ThreadPoolExecutor() as pool:
        running = pool.submit(fleet.run, address=cluster.address)
        wait_until(lambda: len(fleet.pids()) == 2)
        cluster.worker.kill()
        said = "no worker is left: 2 sweeps wait for one; start one, or stop the fleet"
        wait_until(lambda: said in fleet.said)
        fleet.queue.stop_path.touch()
        running.result(60)
    assert (fleet.said.count(said), fleet.dirty(), fleet.pids()) == (1, [], [])
    assert any(line.startswith("a/quick/1: no worker has it; ") for line in fleet.said)
    assert {(one.state, one.was_cut_off) for one in fleet.statuses().values()} == {(TaskState.WAITING, True)}
    fleet.take(0)
    cluster.start_worker()
    fleet.run(address=cluster.address)
    assert_all_is_done_once(fleet)


def test_where_no_worker_is_left_a_signal_ends_it(of_berlin: tuple[Bench, Cluster]) -> None:
    fleet, cluster = of_berlin
    process = controller(fleet, cluster.address)
    wait_until(lambda: len(fleet.pids()) == 2)
    cluster.worker.kill()
    wait_until(lambda: not fleet.dirty())
    process.terminate()
    process.wait(60)
    assert fleet.queue.stop_path.exists()


def test_two_fleets_of_one_name_share_a_scheduler_and_no_result(
    of_berlin: tuple[Bench, Cluster], tmp_path: Path
) -> None:
    fleet, cluster = of_berlin
    fleet.take(1)
    other = Bench(tmp_path / "other")
    shutil.copytree(fleet.hosts, other.hosts, dirs_exist_ok=True)
    other.write(pairs='[[pairs]]\nhosts = ["hosts/*.ini"]\nsite = "berlin"\n', top="most_at_once = 2")
    process = controller(other, cluster.address)
    fleet.run(address=cluster.address)
    assert process.wait(60) == 0
    assert_all_is_done_once(fleet)
    assert_all_is_done_once(other)


def test_a_scheduler_that_is_killed_ends_the_fleet_and_a_resume_goes_on(
    of_berlin: tuple[Bench, Cluster], capfd: pytest.CaptureFixture[str]
) -> None:
    fleet, cluster = of_berlin
    with ThreadPoolExecutor() as pool:
        running = pool.submit(fleet.run, address=cluster.address)
        wait_until(lambda: len(fleet.pids()) == 2)
        cluster.scheduler.kill()
        assert "the scheduler is gone" in str(running.exception(120))
    assert "distributed" not in capfd.readouterr().err
    assert {(*fleet.outcomes(name), fleet.statuses()[name].was_cut_off) for name in fleet.statuses()} == {(True,)}
    fleet.queue.stop_path.touch()  # workers, where they live on, see it too
    wait_until(lambda: not fleet.dirty())
    wait_until(lambda: not fleet.pids())
    fleet.take(0)
    fleet.run(sites=("berlin",))
    assert_all_is_done_once(fleet)


def test_a_client_that_is_killed_leaves_runs_to_workers_and_a_resume_doubles_none(
    of_berlin: tuple[Bench, Cluster],
) -> None:
    fleet, cluster = of_berlin
    fleet.take(4)
    process = controller(fleet, cluster.address)
    wait_until(lambda: len(fleet.pids()) == 2)
    process.kill()
    process.wait(60)
    fleet.run(address=cluster.address)
    assert_all_is_done_once(fleet)
    assert fleet.log()["began"] == 2
