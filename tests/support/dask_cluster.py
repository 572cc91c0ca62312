"""A scheduler of dask.distributed and a worker, as programs of their own on loopback, by TLS as the docs have it."""

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

from support.fleets import wait_until
from support.paths import ROOT

DOCUMENTED = ROOT / "tests/examples/clusters/dask.yaml"
LOCAL = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")


class Cluster:
    """A scheduler, and its newest worker."""

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
        """Another worker that has the resources."""
        own = ("--nthreads", "2", "--no-nanny", "--resources", self.resources, "--local-directory", str(self.folder))
        self.worker = self._start("worker", self.address, *own, *LOCAL)

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
    """A cluster that ends with this."""
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
    """A certificate, which this process and those that it starts take from Dask's own configuration."""
    of_ours = folder / "dask"
    of_ours.mkdir()
    words = "-x509 -newkey rsa:2048 -nodes -keyout fleet.key -out fleet.pem -days 2 -subj /CN=fleet"
    subprocess.run(["openssl", "req", *words.split()], cwd=of_ours, check=True, capture_output=True)
    text = DOCUMENTED.read_text().replace("/shared/fleet", str(of_ours))
    (of_ours / "fleet.yaml").write_text(text)
    merged = dask.config.merge(dask.config.config, yaml.safe_load(text))
    with pytest.MonkeyPatch.context() as patch, dask.config.set(merged):
        patch.setenv("DASK_CONFIG", str(of_ours))
        yield
