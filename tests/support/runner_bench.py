"""A runner of sweeps over two hosts in memory, with scripted transfers and iperf3."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab import workloads
from lab.base.errors import Interrupted
from lab.design.case import Case
from lab.design.sweep_file import Sweep
from lab.hosts import ROLES
from lab.platforms import Counters, Timing
from lab.platforms.files import Programs
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder, Trial
from lab.run import runner as runner_module
from lab.run.begin.look import plan_of
from lab.run.case.mounting import Mounting
from lab.run.runner import Ending, Progress, Runner
from lab.run.transfer.result import TransferResult
from lab.settings.changes import Layers
from lab.workloads import iperf3
from support.memory_host import World, knob
from support.pairs import UNSEEN, hosts_model, pair_of, side_of
from support.sweeps import sweep_of

RATES = {"write": 100e6, "read": 50e6}


def measured(void: str = "") -> TransferResult:
    counted = Counters(1_100_000, 12_345, 0.25, 3, {"mtu": "1500"})
    server = Counters(12_345, 1_100_000, None, 4, {"mtu": "1500"})
    timing = Timing(0.5, counted, "monotonic", "fsync", 0.1)
    samples: dict[str, object] = {"client": {"at_s": [0.0]}}
    return TransferResult(timing, server, Effective(mount="gvfs"), void, Observed(remarks=("odd",)), samples)


def rate(bytes_per_s: float) -> dict[str, float]:
    """The report of an iperf3 that reached this speed."""
    return {"bytes": bytes_per_s, "elapsed_s": 1.0, "bytes_per_s": bytes_per_s, "retransmits": 2}


class RunBench:
    """Runs sweeps over two hosts in memory, and notes the transfers, the tests of the link, and the reports."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch):
        self.world = World(folder)
        self.folder = RunFolder.create(folder / "results", "try", {"ordering": "mirrored"})
        self.transfers: list[str] = []
        self.ceilings: list[tuple[str, int]] = []
        self.outcome: Callable[[str], TransferResult] = lambda _: measured()
        self.link: Callable[[str], dict[str, float]] = lambda direction: rate(RATES[direction])
        self.carrier_changes: dict[str, int | None] = {"client": 1, "server": None}
        self.reports: list[Progress] = []
        hosts, layers = self.world.hosts, Layers(self.world.settings)
        pair = pair_of(
            hosts=hosts, platforms={role: self._platform(role) for role in ROLES},
            sides={role: side_of(hosts[role], "linux", "192.0.2.2", "/lab", "me") for role in ROLES},
        )  # fmt: skip
        self.session: Any = SimpleNamespace(
            payload=workloads.payload("file"), pair=pair, settings=self.world.settings, layers=layers,
            set_up_network=self.set_up_network, recover=lambda: self.session.layers.step_down(0),
            mounting=Mounting(layers), on_one_machine=True,
        )  # fmt: skip
        patch.setattr(runner_module, "transfer", self.transfer)
        patch.setattr(iperf3, "server", lambda *_: knob("server", "mount", "iperf3 runs"))
        patch.setattr(iperf3, "measure", self.measure)

    def _platform(self, role: str) -> SimpleNamespace:
        network = SimpleNamespace(carrier_changes=partial(self.count_carrier_changes, role))
        return SimpleNamespace(network=network, programs=Programs(self.world.hosts[role]))

    def count_carrier_changes(self, role: str, interface: str) -> int | None:
        assert interface == "eth0"
        return self.carrier_changes[role]

    def hide_server(self, **server: str) -> None:
        """Make the server one that nobody logs in to."""
        config = hosts_model(server={**UNSEEN, **server}, share={"path": None})
        self.session.pair = replace(self.session.pair, config=config)

    def set_up_network(self, case: Case) -> None:
        layer = ("mtu", case.mtu), lambda: self.world.settings.apply(knob("server", "mtu", str(case.mtu)))
        self.session.layers.move([layer])

    def transfer(self, session: Any, case: Case, trial_id: str, deadline_s: float) -> TransferResult:
        assert deadline_s == runner_module.SLACK_S + case.size_bytes / SMALL.slowest
        assert self.world.hosts["server"].values["mount"] == "absent", "iperf3 must not run during a transfer"
        self.transfers.append(trial_id)
        return self.outcome(trial_id)

    def measure(
        self, client: Any, call: Sequence[str], address: str, direction: str, seconds: float, port: int
    ) -> dict[str, float]:
        assert (call, address, port) == (("iperf3",), "192.0.2.2", iperf3.PORT)
        assert self.world.hosts["server"].values["mount"] == "iperf3 runs"
        self.ceilings.append((direction, int(self.world.hosts["server"].values["mtu"])))
        return self.link(direction)

    def run(self, sweep: Sweep, *, repeat_disturbed: bool = False, retry_failed: bool = False) -> Ending:
        folder = RunFolder(self.folder.path)
        again = {"repeat_disturbed": repeat_disturbed, "retry_failed": retry_failed}
        return Runner(self.session, folder, sweep, plan_of(folder, sweep), self.reports.append, **again).run()

    def tear(self, sweep: Sweep) -> None:
        """Run a sweep until it is interrupted, and prepare for its resumption as the end of `lab run` does."""
        with pytest.raises(Interrupted):
            self.run(sweep)
        self.put_back()

    def put_back(self) -> None:
        """Put the hosts back, as the end of `lab run` does."""
        self.world.settings.unwind()
        self.session.layers = Layers(self.world.settings)
        self.transfers.clear()

    def run_again(self, sweep: Sweep) -> Ending:
        """Run a sweep that is complete; nothing is transferred."""
        self.transfers.clear()
        ending = self.run(sweep)
        assert self.transfers == []
        return ending

    def trials(self) -> dict[str, Trial]:
        return {trial.trial_id: trial for trial in RunFolder(self.folder.path).trials()}

    def transferred(self) -> dict[str, Trial]:
        return {name: trial for name, trial in self.trials().items() if trial.protocol != "link"}

    def reasons(self, status: str) -> dict[str, str]:
        """The reasons of the trials with a status, by id."""
        return {name: trial.reason for name, trial in self.trials().items() if trial.status == status}

    def ceilings_of_trials(self) -> set[float | None]:
        return {trial.ceiling_bytes_per_s for trial in self.transferred().values()}


SMALL = sweep_of(blocks=2, mtu=[1500, 9000], protocol=["smb", "nfs"])
