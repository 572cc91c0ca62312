"""How long a run takes: its transfers, and the time between them.

The seconds between transfers were measured in a local lab on two idle cores (tests/captures/runs/demo and demo-again:
206 trials). Other hosts are slower in all of them by one ``factor``, which is, like the speeds, from their newest run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lab.design.case import Case
from lab.design.factors import BY_CLIENT, Direction

# Without a measurement: a gigabit link gives 110 MB/s, small TCP buffers or payloads of a second 20 to 60
ASSUMED_BYTES_PER_S = 60e6
TRIAL_S = {Direction.WRITE: 0.17, Direction.READ: 0.26}  # a read gets a fresh mount and dropped caches
SERVE_S = {"ssh": 0.55, "nfs": 0.8}  # starting the server, and mounting; SMB and AFP take longest
SERVE_MOST_S = 1.1
NETWORK_S = 0.4  # setting MTU and TCP buffers of both hosts, and proving the path
CEILING_S = 0.15  # one test of iperf3, beside its own seconds
NOISE_BYTES_PER_S = 0.8e9  # making and comparing a payload
FILE_S = 0.003  # moving a small file, beside its bytes
FILE_OWN_S = 0.0004  # making, comparing and removing it
READ_FROM = "read_from"
RUN_S = 4.0  # connecting, RAM disks, samplers, and restoring


class _Transfer(Protocol):
    """A case or a trial, as far as its time depends on it."""

    @property
    def workload(self) -> str: ...
    @property
    def files(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def protocol(self) -> str: ...
    @property
    def direction(self) -> str: ...
    @property
    def tool(self) -> str: ...
    @property
    def mtu(self) -> int: ...
    @property
    def tcp_space(self) -> int | str: ...


Speeds = Mapping[tuple[str, ...], float]  # bytes per second, by kind


def kinds(transfer: _Transfer) -> list[tuple[str, ...]]:
    """The kinds of a case or trial, the most specific first. A tree's speed says nothing about other payloads."""
    tree = (transfer.workload,) if transfer.files > 1 else ()
    factors = (transfer.protocol, transfer.direction, transfer.tool, transfer.tcp_space, transfer.mtu)
    words = (*tree, *map(str, factors))
    return [words[:count] for count in range(len(words), len(tree) - 1, -1)]


def overhead_s(transfer: _Transfer, serves: bool) -> float:
    """Seconds of a trial beside its transfer; ``serves``: its server is started for it."""
    serving_s = SERVE_S.get(transfer.protocol, SERVE_MOST_S) if serves else 0.0
    payload_s = transfer.size_bytes / NOISE_BYTES_PER_S + (transfer.files - 1) * FILE_OWN_S
    return TRIAL_S[Direction(transfer.direction)] + serving_s + payload_s


def first_copy_s(files: int, size_bytes: int) -> float:
    """Seconds of the untimed copy of a tree before a second copy."""
    return size_bytes / ASSUMED_BYTES_PER_S + files * FILE_S


def transfers(read_from: str) -> int:
    """How often a payload crosses the link: twice if a client writes it before a client reads it."""
    return 2 if read_from in BY_CLIENT else 1


@dataclass(frozen=True)
class Pace:
    """How fast hosts are: in transfers by :func:`kinds`, and in all else. ``source`` is the run that tells.

    ``link_bytes_per_s`` is what the link carries, or 0 if unknown.
    """

    speeds: Speeds = field(default_factory=dict)
    factor: float = 1.0
    source: str = ""
    link_bytes_per_s: float = 0.0

    def run_s(self, cases: Sequence[tuple[Case, bool]], networks: int, shots: int, ceiling_seconds: float) -> float:
        """Seconds of a run: cases, each with whether its server is started; how often networks are set and measured."""
        transfers_s = sum(
            transfers(case.option(READ_FROM)) * case.clients * case.size_bytes / self.speed(case) for case, _ in cases
        )
        others_s = sum(overhead_s(case, serves) for case, serves in cases)
        between_s = others_s + networks * NETWORK_S + shots * 2 * CEILING_S
        return transfers_s + shots * 2 * ceiling_seconds + self.factor * between_s + RUN_S

    def speed(self, case: Case) -> float:
        """Bytes per second of the most similar cases."""
        a_byte_s = 1 / ASSUMED_BYTES_PER_S + (case.files - 1) * FILE_S / case.size_bytes
        return next((self.speeds[kind] for kind in kinds(case) if kind in self.speeds), 1 / a_byte_s)
