"""A dask.distributed scheduler and a worker on loopback, with TLS as the docs set it up."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dask.config
import distributed  # noqa: F401  it adds what it needs to the configuration of Dask
import pytest
import yaml

from lab.fleet.queue import TaskState
from support.fleets import FleetFolder, wait_until
from support.paths import ROOT

DOCUMENTED = ROOT / "tests/examples/clusters/dask.yaml"
LOCAL = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")


class Cluster:
    def __init__(self, folder: Path, resources: str) -> None:
        self.file, self.folder, self.resources = folder / "scheduler.json", folder, resources
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start(
            "scheduler", "--protocol", "tls", "--port", "0", "--scheduler-file", str(self.file), *LOCAL
        )
        wait_until(self.file.exists, "the scheduler's file")
        wait_until(self.file.read_text)
        self.address: str = json.loads(self.file.read_text())["address"]
        self.start_worker()

    def start_worker(self) -> None:
        options = f"--nthreads 2 --no-nanny --resources {self.resources} --local-directory {self.folder}".split()
        self.worker = self._start("worker", self.address, *options, *LOCAL)

    def _start(self, program: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *words]
        paths = [*filter(None, [os.environ.get("PYTHONPATH")]), str(ROOT), str(ROOT / "tests")]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        with (self.folder / f"{program}.log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=self.folder)
        self.processes.append(process)
        return process


@contextmanager
def started(folder: Path, resources: str) -> Iterator[Cluster]:
    with _certified(folder):
        cluster = Cluster(folder, resources)
        try:
            yield cluster
        finally:
            for process in reversed(cluster.processes):
                process.kill()
                process.wait(30)


@contextmanager
def _certified(folder: Path) -> Iterator[None]:
    """Make a certificate, and let this process and its children take it from Dask's configuration."""
    config = folder / "dask"
    config.mkdir()
    words = "-x509 -newkey rsa:2048 -nodes -keyout fleet.key -out fleet.pem -days 2 -subj /CN=fleet"
    subprocess.run(["openssl", "req", *words.split()], cwd=config, check=True, capture_output=True)
    text = DOCUMENTED.read_text().replace("/shared/fleet", str(config))
    (config / "fleet.yaml").write_text(text)
    merged = dask.config.merge(dask.config.config, yaml.safe_load(text))
    with pytest.MonkeyPatch.context() as patch, dask.config.set(merged):
        patch.setenv("DASK_CONFIG", str(config))
        yield


@pytest.fixture
def berlin_fleet(fleet: FleetFolder, tmp_path: Path) -> Iterator[tuple[FleetFolder, Cluster]]:
    """A fleet of two pairs at the site berlin, and a scheduler on loopback with a worker there."""
    fleet.pairs("ab")
    fleet.write(pairs='[[pairs]]\nhosts = ["hosts/*.ini"]\nsite = "berlin"\n', top="most_at_once = 2")
    fleet.take(30)
    with started(tmp_path, "berlin=2") as cluster:
        yield fleet, cluster


def assert_all_is_done_once(fleet: FleetFolder) -> None:
    assert {status.state for status in fleet.statuses().values()} == {TaskState.DONE}
    assert (fleet.dirty(), len(fleet.finished()), set(fleet.finished().values())) == ([], 2, {1})
    assert fleet.log()["violation"] == 0
