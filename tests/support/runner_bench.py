"""A runner of sweeps over two hosts in memory, with scripted transfers and iperf3."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lab import workloads
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
from lab.run.case.session import Session
from lab.run.runner import Progress, Runner
from lab.run.transfer.result import TransferResult
from lab.settings.changes import Layers
from lab.workloads import iperf3
from support.memory_host import World, knob
from support.pairs import pair_of, side_of
from support.sweeps import sweep_of

RATES = {"write": 100e6, "read": 50e6}


def measured(void: str = "") -> TransferResult:
    counted = Counters(1_100_000, 12_345, 0.25, 3, {"mtu": "1500"})
    server = Counters(12_345, 1_100_000, None, 4, {"mtu": "1500"})
    timing = Timing(0.5, counted, "monotonic", "fsync", 0.1)
    return TransferResult(
        timing, server, Effective(mount="gvfs"), void, Observed(remarks=("odd",)), {"client": {"at_s": [0.0]}}
    )


class Bench:
    def __init__(self, folder: Path, patch: pytest.MonkeyPatch):
        self.world = World(folder)
        self.folder = RunFolder.create(folder / "results", "try", {"ordering": "mirrored"})
        self.transfers: list[str] = []
        self.ceilings: list[tuple[str, int]] = []
        self.outcome: Callable[[str], TransferResult] = lambda _: measured()
        self.link: Callable[[str], dict[str, float]] = lambda direction: {
            "bytes": RATES[direction], "elapsed_s": 1.0, "bytes_per_s": RATES[direction], "retransmits": 2
        }  # fmt: skip
        self.carrier_changes: dict[str, int | None] = {"client": 1, "server": None}
        self.seen: list[Progress] = []
        layers = Layers(self.world.settings)
        self.session: Any = SimpleNamespace(
            payload=workloads.payload("file"),
            pair=pair_of(
                hosts=self.world.hosts,
                platforms={
                    role: SimpleNamespace(network=LinkCounter(self, role), programs=Programs(self.world.hosts[role]))
                    for role in ROLES
                },
                sides={"server": side_of(self.world.hosts["server"], "linux", "192.0.2.2", "/lab", "me")},
            ),
            settings=self.world.settings,
            layers=layers,
            set_up_network=self.set_up_network,
            recover=lambda: self.session.layers.step_down(0),
            mounting=Mounting(layers),
            on_one_machine=True,
        )
        patch.setattr(runner_module, "transfer", self.transfer)
        patch.setattr(iperf3, "server", lambda *_: knob("server", "mount", "iperf3 runs"))
        patch.setattr(iperf3, "measure", self.measure)

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

    def runner(self, sweep: Sweep) -> Runner:
        folder = RunFolder(self.folder.path)
        return Runner(cast(Session, self.session), folder, sweep, plan_of(folder, sweep), self.seen.append)

    def trials(self) -> dict[str, Trial]:
        return {trial.trial_id: trial for trial in RunFolder(self.folder.path).trials()}

    def transferred(self) -> dict[str, Trial]:
        return {name: trial for name, trial in self.trials().items() if trial.protocol != "link"}


class LinkCounter:
    """The carrier changes of a host, as a test sets them."""

    def __init__(self, bench: Bench, role: str):
        self.bench, self.role = bench, role

    def carrier_changes(self, interface: str) -> int | None:
        assert interface == "eth0"
        return self.bench.carrier_changes[self.role]


SMALL = sweep_of(blocks=2, mtu=[1500, 9000], protocol=["smb", "nfs"])
