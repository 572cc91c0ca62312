"""A fleet for tests: hosts files, a sweep, a fleet file, and a stand-in for the lab."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.fleet import attempt, control, queue, scheduler
from lab.fleet.fleet_file import load_fleet
from lab.fleet.journal import Line
from lab.fleet.plan import Plan, make_plan
from lab.fleet.queue import Queue, TaskStatus
from support.input_files import HOSTS
from support.paths import ROOT
from support.waiting import wait_until as wait_until

SWEEP = """\
name = "{name}"
[workload]
size = "1 MiB"
[factors]
protocol = ["ssh"]
tool = ["rsync"]
"""
CONTROLLER = """
import sys
from pathlib import Path
from support.fleets import FleetFolder
from lab.base import signals
signals.install()
FleetFolder(Path(sys.argv[1])).run(address=sys.argv[2])
"""
STAND_IN = Path(__file__).with_name("fleet_stand_in.py")


class FleetFolder:
    """A folder with a fleet; ``messages`` collects the messages of the controller."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state, self.hosts = folder / "state", folder / "hosts"
        for path in (self.state / "pids", self.hosts):
            path.mkdir(parents=True, exist_ok=True)
        self.messages: list[str] = []
        self.fleet_file = folder / "fleet.toml"
        self.queue = Queue(folder / "queue")
        if not (self.state / "seconds").exists():
            self.take(0.05)

    def take(self, seconds: float) -> None:
        """Set the duration of runs."""
        (self.state / "seconds").write_text(str(seconds))

    def pair(self, name: str, client: str = "", server: str = "", more: str = "") -> Path:
        """A hosts file; by default of two machines of its own."""
        number = len(list(self.hosts.iterdir()))
        client = client or f"10.1.{number // 200}.{number % 200 + 1}"
        server = server or f"10.2.{number // 200}.{number % 200 + 1}"
        text = HOSTS.replace("mac.example", f"at-{client}").replace("nas.example", f"at-{server}")
        text = text.replace("192.0.2.1", client).replace("192.0.2.2", server)
        path = self.hosts / f"{name}.ini"
        path.write_text(f"{text}serve = lab\n{more}")
        path.chmod(0o600)
        return path

    def pairs(self, names: str, server: str = "") -> None:
        """A hosts file for each letter."""
        for name in names:
            self.pair(name, server=server)

    def sweep(self, name: str = "quick") -> Path:
        path = self.folder / f"{name}.toml"
        path.write_text(SWEEP.format(name=name))
        return path

    def write(self, tasks: str = '[[tasks]]\nsweep = "quick.toml"\n', top: str = "", pairs: str = "") -> Path:
        """The fleet file; by default of every hosts file and one sweep."""
        if not (self.folder / "quick.toml").exists():
            self.sweep()
        pairs = pairs or '[[pairs]]\nhosts = ["hosts/*.ini"]\n'
        self.fleet_file.write_text(f'name = "try"\nretry_after = "0.1 s"\n{top}\n{pairs}{tasks}')
        return self.fleet_file

    def plan(self, *, checked: bool = True) -> Plan:
        return make_plan(load_fleet(self.fleet_file), self.fleet_file, self.queue.path, checked=checked)

    @property
    def programs(self) -> attempt.Programs:
        words = (sys.executable, "-I", "-S", str(STAND_IN), str(self.state))
        return attempt.Programs(words, (*words, "look"))

    def run(self, sites: tuple[str, ...] = (), address: str = "") -> Plan:
        """Run the fleet with a real scheduler: embedded, or the one at an address."""
        plan = self.plan()
        self.queue.make()
        at_once = plan.most_at_once
        with scheduler.by_address(address, at_once) if address else scheduler.embedded(at_once, sites) as chosen:
            chosen.check_sites(plan)
            chosen.check_queue(str(self.queue.plan_path), self.queue.write(plan))
            self.queue.stop_path.unlink(missing_ok=True)
            control.Controller(plan, self.queue, chosen, self.messages.append, self.programs).run()
        return plan

    @contextmanager
    def running(self, address: str = "") -> Iterator[Future[Plan]]:
        """Run the fleet in a thread, and wait for its end afterwards."""
        with ThreadPoolExecutor(1) as pool:
            yield pool.submit(self.run, address=address)

    def statuses(self) -> dict[str, TaskStatus]:
        return {status.task.id: status for status in self.queue.statuses(self.plan(checked=False))}

    def outcomes(self, task: str) -> list[str]:
        return [line.outcome.value for line in self.lines(task) if line.outcome]

    def lines(self, task: str) -> list[Line]:
        return [line for line in self.queue.journal.lines() if line.task == task]

    def log(self) -> Counter[str]:
        """How often each event happened, by its first word."""
        path = self.state / "log"
        return Counter(line.split()[0] for line in path.read_text().splitlines()) if path.exists() else Counter()

    def finished(self) -> Counter[str]:
        """How many runs of each task are complete, by the task's folder."""
        paths = self.folder.rglob("run.json")  # also in queues that commands made
        return Counter(str(path.parents[1]) for path in paths if json.loads(path.read_text()).get("ended"))

    def dirty(self) -> list[str]:
        return sorted(path.name for path in self.state.glob("*.dirty"))

    def pids(self) -> list[int]:
        return sorted(int(path.name) for path in (self.state / "pids").iterdir())


def controller(fleet: FleetFolder, address: str = "") -> subprocess.Popen[bytes]:
    """A controller in a process of its own; its temporary files are in the folder of the fleet."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "TMPDIR": str(fleet.folder)}
    return subprocess.Popen([sys.executable, "-c", CONTROLLER, str(fleet.folder), address], env=environment)


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "register"))
    monkeypatch.setenv("LAB_PASSWORD", "x")
    folder = FleetFolder(tmp_path / "fleet")
    monkeypatch.chdir(folder.folder)
    return folder


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller that looks often and waits for a short time."""
    monkeypatch.setattr(attempt, "POLL_MS", 20)
    monkeypatch.setattr(queue, "PATIENCE_S", 0.1)
    monkeypatch.setattr(control, "ROUND_S", 0.02)
    for name in ("BUSY_S", "HELD_S", "WORKERS_S"):
        monkeypatch.setattr(control, name, 0.1)


@pytest.fixture
def stood_in(fleet: FleetFolder, fast: None, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """A fleet whose attempts start the stand-in."""
    monkeypatch.setattr(attempt, "LAB", fleet.programs.lab)
    monkeypatch.setattr(attempt, "LOOK", fleet.programs.look)
    fleet.pairs("ab", server="10.9.0.9")
    fleet.write('[[tasks]]\nsweep = "quick.toml"\nrepetitions = 2\n')
    return fleet
