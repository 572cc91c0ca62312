"""The controller of a fleet, its scheduler and its worker are processes of their own, and are killed."""

import os
import signal

import pytest
from support.dask_cluster import Cluster, assert_all_is_done_once
from support.fleets import FleetFolder, controller
from support.waiting import wait_until

from lab.fleet.queue import TaskState

pytestmark = pytest.mark.usefixtures("fast")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_controller_that_ends_restores_all_and_the_next_goes_on(fleet: FleetFolder, number: signal.Signals) -> None:
    fleet.pairs("abcd")
    fleet.write('[[tasks]]\nsweep = "quick.toml"\nrepetitions = 2\n')
    fleet.take(1)
    process = controller(fleet)
    wait_until(lambda: len(fleet.pids()) >= 2 and fleet.log()["finished"] >= 1)
    os.kill(process.pid, number)
    process.wait(60)
    wait_until(lambda: not fleet.dirty() and not fleet.pids())  # the kernel tells the runs of a killed controller
    fleet.take(0)
    fleet.run()
    assert {status.state for status in fleet.statuses().values()} == {TaskState.DONE}
    assert (list(fleet.finished().values()), fleet.log()["violation"], fleet.dirty()) == ([1] * 8, 0, [])


def test_a_worker_that_is_killed_loses_nothing(berlin_fleet: tuple[FleetFolder, Cluster]) -> None:
    fleet, cluster = berlin_fleet
    with fleet.running(cluster.address) as run:
        wait_until(lambda: len(fleet.pids()) == 2)
        fleet.take(0)
        cluster.worker.kill()
        wait_until(lambda: not fleet.dirty())
        cluster.start_worker()
        run.result(120)
    assert_all_is_done_once(fleet)


def test_a_scheduler_that_is_killed_ends_the_fleet_and_a_resume_goes_on(
    berlin_fleet: tuple[FleetFolder, Cluster], capfd: pytest.CaptureFixture[str]
) -> None:
    fleet, cluster = berlin_fleet
    with fleet.running(cluster.address) as run:
        wait_until(lambda: len(fleet.pids()) == 2)
        cluster.scheduler.kill()
        assert "the scheduler is gone" in str(run.exception(120))
    assert "distributed" not in capfd.readouterr().err
    assert {(*fleet.outcomes(name), fleet.statuses()[name].was_cut_off) for name in fleet.statuses()} == {(True,)}
    fleet.queue.stop_path.touch()  # workers that are still alive see it too
    wait_until(lambda: not fleet.dirty() and not fleet.pids())
    fleet.take(0)
    fleet.run(sites=("berlin",))
    assert_all_is_done_once(fleet)


def test_a_killed_client_leaves_runs_to_workers_and_none_is_doubled(berlin_fleet: tuple[FleetFolder, Cluster]) -> None:
    fleet, cluster = berlin_fleet
    fleet.take(2)
    process = controller(fleet, cluster.address)
    wait_until(lambda: len(fleet.pids()) == 2)
    process.kill()
    process.wait(60)
    fleet.run(address=cluster.address)
    assert_all_is_done_once(fleet)
    assert fleet.log()["began"] == 2
