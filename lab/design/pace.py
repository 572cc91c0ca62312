"""How long a run takes: what its transfers take, and what lies between them.

Seconds between transfers were measured in the local lab, on an idle machine with two cores, by protocol and by what has
to be set up (tests/captures/runs/demo and demo-again: 206 trials). Other hosts, such as emulated ones, are slower in
all of it alike, so that one ``factor`` tells of them; it and the speeds are those of the newest run on the same hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lab.design.case import Case
from lab.design.factors import Direction

# Where nothing was measured: a gigabit link gives 110, small TCP buffers or payloads of a second 20 to 60
ASSUMED_BYTES_PER_S = 60e6
TRIAL_S = {Direction.WRITE: 0.17, Direction.READ: 0.26}  # a read gets a fresh mount, and caches are dropped
SERVE_S = {"ssh": 0.55, "nfs": 0.8}  # starting what serves, and mounting; SMB and AFP take longest
SERVE_MOST_S = 1.1
NETWORK_S = 0.4  # MTU and TCP buffers of both hosts, and the proof of the path
CEILING_S = 0.15  # one test of iperf3, beside the seconds that it is given
NOISE_BYTES_PER_S = 0.8e9  # a payload is made and compared at this rate, both together
RUN_S = 4.0  # connecting, RAM disks and samplers; putting back

Speeds = Mapping[tuple[str, ...], float]  # bytes per second, by the first so many of what `kinds` lists


def kinds(protocol: str, direction: str, tool: str, tcp_space: object, mtu: int) -> list[tuple[str, ...]]:
    """What a speed is known by, the closest first: all that varies it most, then less and less of that."""
    words = (protocol, str(direction), tool, str(tcp_space), str(mtu))
    return [words[:count] for count in range(len(words), -1, -1)]


def overhead_s(protocol: str, direction: str, size_bytes: int, serves: bool) -> float:
    """Seconds of a trial beside its transfer; ``serves``: what serves the share is started for it."""
    serving_s = SERVE_S.get(protocol, SERVE_MOST_S) if serves else 0.0
    return TRIAL_S[Direction(direction)] + serving_s + size_bytes / NOISE_BYTES_PER_S


@dataclass(frozen=True)
class Pace:
    """How fast hosts are: by what :func:`kinds` gives of a case, and in all else. ``source`` is the run it is of.

    ``link_bytes_per_s`` is what the link between them carries, 0 where that is not known.
    """

    speeds: Speeds = field(default_factory=dict)
    factor: float = 1.0
    source: str = ""
    link_bytes_per_s: float = 0.0

    def run_s(self, cases: Sequence[tuple[Case, bool]], networks: int, shots: int, ceiling_seconds: float) -> float:
        """Seconds of a run of these cases, each with whether what serves is started for it.

        ``networks`` is how often a network is set, ``shots`` how often iperf3 measures one, each time both ways.
        """
        transfers_s = sum(case.size_bytes / self.speed(case) for case, _ in cases)
        others_s = sum(overhead_s(case.protocol, case.direction, case.size_bytes, serves) for case, serves in cases)
        between_s = others_s + networks * NETWORK_S + shots * 2 * CEILING_S
        return transfers_s + shots * 2 * ceiling_seconds + self.factor * between_s + RUN_S

    def speed(self, case: Case) -> float:
        """Bytes per second of the cases that are most like this one."""
        known_by = kinds(case.protocol, case.direction, case.tool, case.tcp_space, case.mtu)
        return next((self.speeds[kind] for kind in known_by if kind in self.speeds), ASSUMED_BYTES_PER_S)
