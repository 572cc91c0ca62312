"""A fleet in a test's hands: hosts files, a sweep, a fleet file, and a stand-in for the lab that fleets start."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from lab.fleet import attempt, control, scheduler
from lab.fleet.fleet_file import load_fleet
from lab.fleet.journal import Line
from lab.fleet.plan import Plan, make_plan
from lab.fleet.queue import Queue, TaskStatus
from support.input_files import HOSTS
from support.paths import ROOT

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
from support.fleets import Bench
from lab.base import signals
signals.install()
bench = Bench.__new__(Bench)
bench.folder = Path(sys.argv[1])
bench.state, bench.hosts = bench.folder / "state", bench.folder / "hosts"
bench.said, bench.fleet_file = [], bench.folder / "fleet.toml"
from lab.fleet.queue import Queue
bench.queue = Queue(bench.folder / "queue")
bench.run(address=sys.argv[2])
"""
STAND_IN = Path(__file__).with_name("fleet_stand_in.py")
ENOUGH_S = 60.0


class Bench:
    """A folder with a fleet. ``tell`` collects what the controller says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state, self.hosts = folder / "state", folder / "hosts"
        for path in (self.state / "pids", self.hosts):
            path.mkdir(parents=True)
        self.said: list[str] = []
        self.fleet_file = folder / "fleet.toml"
        self.queue = Queue(folder / "queue")
        self.take(0.05)

    def take(self, seconds: float) -> None:
        """How long runs take from now on."""
        (self.state / "seconds").write_text(str(seconds))

    def pair(self, name: str, client: str = "", server: str = "", more: str = "") -> Path:
        """A hosts file of machines that are called so; by default of two of its own."""
        number = len(list(self.hosts.iterdir()))
        client = client or f"10.1.{number // 200}.{number % 200 + 1}"
        server = server or f"10.2.{number // 200}.{number % 200 + 1}"
        text = HOSTS.replace("mac.example", f"at-{client}").replace("nas.example", f"at-{server}")
        text = text.replace("192.0.2.1", client).replace("192.0.2.2", server)
        path = self.hosts / f"{name}.ini"
        path.write_text(f"{text}serve = lab\n{more}")
        path.chmod(0o600)
        return path

    def sweep(self, name: str = "quick") -> Path:
        """A sweep file."""
        path = self.folder / f"{name}.toml"
        path.write_text(SWEEP.format(name=name))
        return path

    def write(self, tasks: str = '[[tasks]]\nsweep = "quick.toml"\n', top: str = "", pairs: str = "") -> Path:
        """The fleet file: by default of every hosts file and one sweep."""
        if not (self.folder / "quick.toml").exists():
            self.sweep()
        pairs = pairs or '[[pairs]]\nhosts = ["hosts/*.ini"]\n'
        self.fleet_file.write_text(f'name = "try"\nretry_after = "0.1 s"\n{top}\n{pairs}{tasks}')
        return self.fleet_file

    def plan(self, *, checked: bool = True) -> Plan:
        """What the fleet file comes to."""
        return make_plan(load_fleet(self.fleet_file), self.fleet_file, self.queue.path, checked=checked)

    @property
    def programs(self) -> attempt.Programs:
        """The words that start the stand-in."""
        words = (sys.executable, "-I", "-S", str(STAND_IN), str(self.state))
        return attempt.Programs(words, (*words, "look"))

    def run(self, sites: tuple[str, ...] = (), address: str = "") -> Plan:
        """Work through the fleet, by a real scheduler: one in this process, or that at an address."""
        plan = self.plan()
        self.queue.make()
        at_once = plan.most_at_once
        with scheduler.by_address(address, at_once) if address else scheduler.embedded(at_once, sites) as chosen:
            chosen.check_sites(plan)
            chosen.check_queue(str(self.queue.plan_path), self.queue.write(plan))
            self.queue.stop_path.unlink(missing_ok=True)
            control.Controller(plan, self.queue, chosen, self.said.append, self.programs).run()
        return plan

    def statuses(self) -> dict[str, TaskStatus]:
        """Where each task stands, by its name."""
        return {one.task.id: one for one in self.queue.statuses(self.plan(checked=False))}

    def outcomes(self, task: str) -> list[str]:
        """How the attempts of a task ended."""
        return [line.outcome.value for line in self.lines(task) if line.outcome]

    def lines(self, task: str) -> list[Line]:
        """The lines of the journal about a task."""
        return [line for line in self.queue.journal.lines() if line.task == task]

    def log(self) -> Counter[str]:
        """How often each thing happened to the stand-in, by its first word."""
        path = self.state / "log"
        return Counter(line.split()[0] for line in path.read_text().splitlines()) if path.exists() else Counter()

    def finished(self) -> Counter[str]:
        """How many runs of each task are complete, by the task's folder."""
        paths = self.folder.rglob("run.json")  # also of a queue that a command made
        return Counter(str(path.parents[1]) for path in paths if json.loads(path.read_text()).get("ended"))

    def dirty(self) -> list[str]:
        """The machines that are changed."""
        return sorted(path.name for path in self.state.glob("*.dirty"))

    def pids(self) -> list[int]:
        """The runs that are under way."""
        return sorted(int(path.name) for path in (self.state / "pids").iterdir())


def controller(fleet: Bench, address: str = "") -> subprocess.Popen[bytes]:
    """One in a process of its own; what it leaves where it is killed lies in the folder of the fleet."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "TMPDIR": str(fleet.folder)}
    return subprocess.Popen([sys.executable, "-c", CONTROLLER, str(fleet.folder), address], env=environment)


def wait_until(condition: Callable[[], object], what: str = "it") -> None:
    """Wait until something holds; fails the test where it does not within a minute."""
    deadline = time.monotonic() + ENOUGH_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.02)
