"""Fleets without a worker, fleets that share a scheduler, and one of two hundred pairs whose runs are killed."""

import os
import random
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.dask_cluster import Cluster, assert_all_is_done_once
from support.fleets import FleetFolder, controller
from support.waiting import wait_until

from lab.fleet.queue import TaskState

pytestmark = pytest.mark.usefixtures("fast")


def test_where_no_worker_is_left_it_says_so_and_a_stop_ends_it(berlin_fleet: tuple[FleetFolder, Cluster]) -> None:
    fleet, cluster = berlin_fleet
    with fleet.running(cluster.address) as run:
        wait_until(lambda: len(fleet.pids()) == 2)
        cluster.worker.kill()
        sentence = "no worker is left: 2 sweeps wait for one; start one, or stop the fleet"
        wait_until(lambda: sentence in fleet.messages)
        fleet.queue.stop_path.touch()
        run.result(60)
    assert (fleet.messages.count(sentence), fleet.dirty(), fleet.pids()) == (1, [], [])
    assert any(line.startswith("a/quick/1: no worker has it; ") for line in fleet.messages)
    assert {(status.state, status.was_cut_off) for status in fleet.statuses().values()} == {(TaskState.WAITING, True)}
    fleet.take(0)
    cluster.start_worker()
    fleet.run(address=cluster.address)
    assert_all_is_done_once(fleet)


def test_where_no_worker_is_left_a_signal_ends_it(berlin_fleet: tuple[FleetFolder, Cluster]) -> None:
    fleet, cluster = berlin_fleet
    process = controller(fleet, cluster.address)
    wait_until(lambda: len(fleet.pids()) == 2)
    cluster.worker.kill()
    wait_until(lambda: not fleet.dirty())
    process.terminate()
    process.wait(60)
    assert fleet.queue.stop_path.exists()


def test_two_fleets_share_only_a_scheduler(berlin_fleet: tuple[FleetFolder, Cluster], tmp_path: Path) -> None:
    fleet, cluster = berlin_fleet
    fleet.take(1)
    other = FleetFolder(tmp_path / "other")
    shutil.copytree(fleet.hosts, other.hosts, dirs_exist_ok=True)
    other.write(pairs='[[pairs]]\nhosts = ["hosts/*.ini"]\nsite = "berlin"\n', top="most_at_once = 2")
    process = controller(other, cluster.address)
    fleet.run(address=cluster.address)
    assert process.wait(60) == 0
    assert_all_is_done_once(fleet)
    assert_all_is_done_once(other)


def test_two_hundred_pairs_with_random_kills_lose_nothing_and_double_nothing(fleet: FleetFolder) -> None:
    draw = random.Random(7)
    for number in range(200):
        fleet.pair(f"p{number:03}", server=f"10.3.0.{number // 2 + 1}")  # two pairs have one server
    fleet.write(top="most_at_once = 16\nattempts = 100")
    fleet.take(0.2)
    killed = 0
    with fleet.running() as run:
        while not run.done():
            if killed < 40 and (pids := fleet.pids()):
                with suppress(ProcessLookupError):
                    os.kill(draw.choice(pids), signal.SIGKILL)
                    killed += 1
                for path in (fleet.state / "pids").iterdir():  # of killed processes
                    if not Path(f"/proc/{path.name}").exists():
                        path.unlink(missing_ok=True)
            time.sleep(0.05)
    run.result()
    assert {status.state for status in fleet.statuses().values()} == {TaskState.DONE}
    assert (killed, list(fleet.finished().values())) == (40, [1] * 200)
    assert (fleet.log()["violation"], fleet.log()["dirty"], fleet.dirty()) == (0, 0, [])
