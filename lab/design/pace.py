"""How long a run takes: what its transfers take, and what lies between them.

Seconds between transfers were measured in the local lab, on an idle machine with two cores, by protocol and by what has
to be set up (tests/captures/runs/demo and demo-again: 206 trials). Other hosts, such as emulated ones, are slower in
all of it alike, so that one ``factor`` tells of them; it and the speeds are those of the newest run on the same hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lab.design.case import Case
from lab.design.factors import BY_CLIENT, Direction

# Where nothing was measured: a gigabit link gives 110, small TCP buffers or payloads of a second 20 to 60
ASSUMED_BYTES_PER_S = 60e6
TRIAL_S = {Direction.WRITE: 0.17, Direction.READ: 0.26}  # a read gets a fresh mount, and caches are dropped
SERVE_S = {"ssh": 0.55, "nfs": 0.8}  # starting what serves, and mounting; SMB and AFP take longest
SERVE_MOST_S = 1.1
NETWORK_S = 0.4  # MTU and TCP buffers of both hosts, and the proof of the path
CEILING_S = 0.15  # one test of iperf3, beside the seconds that it is given
NOISE_BYTES_PER_S = 0.8e9  # a payload is made and compared at this rate, both together
FILE_S = 0.003  # moving a small file takes so long beside its bytes; making, comparing and removing it, FILE_OWN_S
FILE_OWN_S = 0.0004
READ_FROM = "read_from"
RUN_S = 4.0  # connecting, RAM disks and samplers; putting back


class Levels(Protocol):
    """What tells how long something takes: of a case, or of a trial."""

    @property
    def workload(self) -> str:
        """What is moved."""

    @property
    def files(self) -> int:
        """In how many files."""

    @property
    def size_bytes(self) -> int:
        """In how many bytes."""

    @property
    def protocol(self) -> str:
        """By which protocol."""

    @property
    def direction(self) -> str:
        """Which way."""

    @property
    def tool(self) -> str:
        """By which command."""

    @property
    def mtu(self) -> int:
        """At which MTU."""

    @property
    def tcp_space(self) -> int | str:
        """With which TCP buffers."""


Speeds = Mapping[tuple[str, ...], float]  # bytes per second, by the first so many of what `kinds` lists


def kinds(trial: Levels) -> list[tuple[str, ...]]:
    """What a speed is known by, the closest first: all that varies it most, then less and less of that.

    That of a tree, which has many files, says nothing of one file, nor of another tree.
    """
    tree = (trial.workload,) if trial.files > 1 else ()
    words = (*tree, trial.protocol, str(trial.direction), trial.tool, str(trial.tcp_space), str(trial.mtu))
    return [words[:count] for count in range(len(words), len(tree) - 1, -1)]


def overhead_s(trial: Levels, serves: bool) -> float:
    """Seconds of a trial beside its transfer; ``serves``: what serves the share is started for it."""
    serving_s = SERVE_S.get(trial.protocol, SERVE_MOST_S) if serves else 0.0
    payload_s = trial.size_bytes / NOISE_BYTES_PER_S + (trial.files - 1) * FILE_OWN_S
    return TRIAL_S[Direction(trial.direction)] + serving_s + payload_s


def first_copy_s(files: int, size_bytes: int) -> float:
    """Seconds of the copy before a second one, of a tree of so many files and bytes, which is not timed."""
    return size_bytes / ASSUMED_BYTES_PER_S + files * FILE_S


def transfers(read_from: str) -> int:
    """How often the payload of a trial crosses the link: what a client reads that a client wrote before, twice."""
    return 2 if read_from in BY_CLIENT else 1


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
        transfers_s = sum(
            transfers(case.option(READ_FROM)) * case.clients * case.size_bytes / self.speed(case) for case, _ in cases
        )
        others_s = sum(overhead_s(case, serves) for case, serves in cases)
        between_s = others_s + networks * NETWORK_S + shots * 2 * CEILING_S
        return transfers_s + shots * 2 * ceiling_seconds + self.factor * between_s + RUN_S

    def speed(self, case: Case) -> float:
        """Bytes per second of the cases that are most like this one."""
        a_byte_s = 1 / ASSUMED_BYTES_PER_S + (case.files - 1) * FILE_S / case.size_bytes
        return next((self.speeds[kind] for kind in kinds(case) if kind in self.speeds), 1 / a_byte_s)
