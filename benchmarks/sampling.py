"""What the sampler costs: its own CPU time, idle and under load, and what it does to the times of transfers.

    python benchmarks/sampling.py hosts.local.NAME.ini --pairs 20 --size "200 MiB"

The same transfer is repeated in pairs: with the samplers of both hosts at work, and with both stopped (SIGSTOP), in
random order. Everything is put back at the end. It needs Linux hosts and root on them, such as those of a local lab.
"""

import argparse
import random
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench_lab import opened

from lab.base.units import parse_size
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import ROLES, Role
from lab.run.case.session import Session
from lab.run.transfer.transfer import transfer
from lab.stats import median_interval
from lab.workloads import iperf3

# CPU time of the sampler and of what it started, and the host's clock, in hundredths of a second; $1 its pid
SPENT = """
sed 's/^.*) //' "/proc/$1/stat" | { read -r _ _ _ _ _ _ _ _ _ _ _ a b c d _; echo $((a + b + c + d)); }
cut -d ' ' -f 1 /proc/uptime | tr -d .
"""
IDLE_S, LOAD_S = 20.0, 20.0


@dataclass(frozen=True)
class Sampler:
    """The sampler of one host."""

    session: Session
    role: Role

    @property
    def pid(self) -> str:
        file = f"{self.session.pair.sides[self.role].directory}/sampler.process"
        return self.session.pair.hosts[self.role].run("head", "-n", "1", file).stdout.strip()

    def send(self, signal: str) -> None:
        self.session.pair.hosts[self.role].run("kill", "-s", signal, self.pid)

    def spent(self) -> tuple[int, int]:
        cpu, clock = self.session.pair.hosts[self.role].shell(SPENT, self.pid).stdout.split()
        return int(cpu), int(clock)


def shares(samplers: dict[Role, Sampler], meanwhile: Callable[[], None]) -> dict[str, float]:
    """The share of one core that each sampler takes meanwhile, in percent."""
    before = {role: sampler.spent() for role, sampler in samplers.items()}
    meanwhile()
    after = {role: sampler.spent() for role, sampler in samplers.items()}
    return {
        str(role): round(100 * (after[role][0] - cpu) / (after[role][1] - clock), 2)
        for role, (cpu, clock) in before.items()
    }


def ratio(session: Session, case: Case, samplers: dict[Role, Sampler], chance: random.Random) -> float:
    """The time of a transfer with both samplers at work over that with both stopped."""
    elapsed = {}
    for at_work in chance.sample([True, False], 2):
        for sampler in samplers.values():
            sampler.send("CONT" if at_work else "STOP")
        time.sleep(0.2)
        elapsed[at_work] = transfer(session, case, f"bench-{secrets.token_hex(4)}", 600).timing.elapsed_s
    return elapsed[True] / elapsed[False]


def load(session: Session) -> None:
    """A stream of iperf3 for LOAD_S seconds."""
    server = session.pair.sides[Role.SERVER]
    with session.settings.scope():
        call = (iperf3.NAME,)
        session.settings.apply(iperf3.server(server.host, call, server.address, server.directory, server.listening))
        iperf3.measure(session.pair.hosts[Role.CLIENT], call, server.address, Direction.WRITE, LOAD_S)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", type=Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--size", type=parse_size, default=200 * 2**20)
    parser.add_argument("--protocol", default="smb")
    options = parser.parse_args()
    tool = "rsync" if options.protocol == "ssh" else "cp"
    chance = random.Random(20110918)
    with opened(options.hosts) as session:
        samplers = {role: Sampler(session, role) for role in ROLES}
        print("idle, % of a core:", shares(samplers, lambda: time.sleep(IDLE_S)), flush=True)
        print("while bytes move, % of a core:", shares(samplers, lambda: load(session)), flush=True)
        for direction in Direction:
            case = Case(options.protocol, tool, direction, 1500, "default", "ram", "file", options.size)
            ratios = [ratio(session, case, samplers, chance) for _ in range(options.pairs)]
            low, high = median_interval(ratios)
            interval = f"median {median(ratios):.4f}, 95 % interval {low:.4f} to {high:.4f}"
            print(f"{direction}, time with / without: {interval}", flush=True)


if __name__ == "__main__":
    main()
