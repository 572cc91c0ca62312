"""What benchmarks run on: a local lab of their own, the sweeps that it runs, and a session for single transfers."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.design.case import Case
from lab.hosts.hosts_file import load_hosts
from lab.hosts.passwords import resolve
from lab.hosts.ssh import connected
from lab.run.case.pair import Pair
from lab.run.case.session import Session
from lab.run.restore.vocabulary import line_format
from lab.settings import lease
from lab.settings.changes import Settings
from lab.settings.journal import Journal

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class FinishedRun:
    """A sweep that was run: the seconds it took as a whole, its folder, and its trials without the ceilings."""

    wall_s: float
    folder: Path
    trials: list[dict[str, Any]]
    ceilings: list[dict[str, Any]]


@dataclass(frozen=True)
class BenchLab:
    """A local lab that is up."""

    name: str
    folder: Path

    @property
    def hosts(self) -> Path:
        """Its hosts file."""
        return self.folder / f"hosts.local.{self.name}.ini"

    def lab(self, *words: str, most: int = 0) -> str:
        """What a ``lab`` command prints. Raises SystemExit with its output for an exit code of more than ``most``."""
        command = [sys.executable, "-m", "lab", *words]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}  # the lab beside this file, whatever is installed
        ended = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        if ended.returncode > most:
            raise SystemExit(f"{' '.join(words)}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")
        return ended.stdout

    def pid(self, host: str) -> int:
        """The first process of a host, as this machine counts."""
        state = json.loads(Path(f"/run/file-share-lab/{self.name}/state.json").read_text())
        return int(state["hosts"][host]["pid"])

    def run(self, factors: Mapping[str, Sequence[Any]], hosts: Path | None = None, **keys: Any) -> FinishedRun:
        """Run a sweep with these factors; ``size`` is of its payload, other keys stand at its top.

        Trials that are not ok are printed, and no figure uses them.
        """
        started = time.monotonic()
        printed = self.lab("run", "--hosts", str(hosts or self.hosts), str(self.sweep(factors, **keys)), most=1)
        wall_s = time.monotonic() - started
        folder = self.folder / printed.splitlines()[-1]
        rows = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
        for row in rows:
            if row["status"] != "ok":
                print(f"{row['trial_id']} {row['case_id']}: {row['status']}: {row['reason'].splitlines()[-1]}")
        good = [row for row in rows if row["status"] == "ok"]
        links = [row for row in good if row["protocol"] == "link"]
        return FinishedRun(wall_s, folder, [row for row in good if row["protocol"] not in ("link", "store")], links)

    def sweep(self, factors: Mapping[str, Sequence[Any]], size: str = "4 MiB", **keys: Any) -> Path:
        """A sweep file."""
        top = {"name": "benchmark"} | keys
        lines = [f"{key} = {json.dumps(value)}" for key, value in top.items()]
        lines += ["[workload]", f'size = "{size}"', "[factors]"]
        lines += [f"{name} = {json.dumps(list(levels))}" for name, levels in factors.items()]
        path = self.folder / "sweep.toml"
        path.write_text("\n".join(lines) + "\n")
        return path


@contextmanager
def bench_lab(*options: str) -> Iterator[BenchLab]:
    """A local lab with these options of ``lab local up``, taken down at the end, also when it is told to stop."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        lab = BenchLab(f"bench-{os.getpid()}", Path(folder))
        lab.lab("local", "up", "--name", lab.name, *options)
        try:
            yield lab
        finally:
            lab.lab("local", "down", "--name", lab.name)


@contextmanager
def opened(hosts_file: Path) -> Iterator[Session]:
    """A session with these hosts, which are claimed meanwhile and put back at the end."""
    config = load_hosts(hosts_file)
    password = resolve(config.share.password, config.share.account, "[share] password")
    with tempfile.TemporaryDirectory() as folder, connected(config) as hosts:
        journal = Journal(Path(folder) / "journal.jsonl", line_format())
        settings = Settings(hosts, journal, lease.for_run(hosts, config, "benchmark"))
        try:
            for name in hosts:
                settings.claim(name)
            session = Session(hosts, config, settings, password)
            session.open()
            yield session
        finally:
            settings.unwind()


def in_share_of(session: Session, case: Case, pair: Pair) -> str:
    """Where the share's folder is on a client."""
    setup = session.setup_of(case, pair)
    return f"{setup.attached.path}{setup.folder.removeprefix(setup.share.path)}"
