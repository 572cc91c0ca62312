"""What `lab check` asks a system before a run. Nothing here changes anything."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

from lab.base.untrusted import match_of
from lab.hosts.assumptions import Capture, Version
from lab.platforms.facts import Facts
from lab.platforms.part import Part
from lab.settings.tcp_reach import Reach, ReachByVersion

BUSY_PER_CORE = 0.5  # load average; beyond it, what else runs takes a share of the processor that nobody can subtract
SWAP_BYTES = 64 * 1024**2  # less than that may be left over from any time since the system started
# A clock with fractions, where there is one. Its absence is a finding of its own
EPOCH = "perl -MTime::HiRes=time -e 'printf \"%.3f\\n\", time' 2>/dev/null || date +%s"


@dataclass(frozen=True)
class Disturbance:
    """Something that makes figures worse, and what to do about it; if not ``urgent``, it does no harm yet."""

    what: str
    remedy: str
    urgent: bool = True


Looks: TypeAlias = Mapping[str, Callable[[], Sequence[Disturbance]]]  # one look at a host by what it looks at


@dataclass(frozen=True)
class Skew:
    """How far a host's clock is ahead of the controller's, in seconds, and by how much that may be wrong."""

    ahead_s: float
    within_s: float

    @property
    def least_s(self) -> float:
        """The smallest difference, without a sign, that the two readings allow."""
        return max(abs(self.ahead_s) - self.within_s, 0.0)


class Preflight(Part):
    """What can be asked of a system before a run; nothing by default.

    ``assumption_files`` have what the lab takes for granted about such a system (:mod:`lab.hosts.assumptions`).
    ``captures`` are outputs worth keeping.
    """

    assumption_files: ClassVar[tuple[Path, ...]] = ()
    captures: ClassVar[tuple[Capture, ...]] = ()

    def disturbances(self, folder: str | None) -> Looks:
        """The looks for disturbances; shared files are in ``folder``. Each look raises LabFailure or ValueError."""
        return {}

    def names(self) -> dict[str, list[str]]:
        """What names this host and the people on it, by kind, as far as it says: to be left out of what is shared."""
        return {}

    def version(self, facts: Facts) -> Version | None:
        """The version of the system that decides which assumptions apply; None if unknown."""
        return None

    def tcp_reach(self, facts: Facts, reach_by_version: ReachByVersion) -> Reach:
        """Whether TCP buffers reach the sockets on this host; ``reach_by_version`` is what a driver declares."""
        return Reach(None, f"nothing is known about {facts.platform}")

    def epoch(self) -> str:
        """What this host's clock says, in seconds since 1970; without a fraction where no script runs."""
        return self.host.shell(EPOCH).stdout


def skew(before_s: float, clock: str, after_s: float) -> Skew:
    """The skew of a clock that showed ``clock`` (seconds since 1970) between two readings of ours.

    A reading without a fraction may be up to a second old. Raises ValueError for a text that is no time.
    """
    problem = f"its clock says {clock[:40]!r}, which is no number of seconds"
    match = match_of(r"\A\s*(\d+)(\.\d+)?\s*\Z", clock, problem)
    earliest = float(match[0])
    latest = earliest if match[2] else earliest + 1.0
    low, high = earliest - after_s, latest - before_s
    return Skew((low + high) / 2, (high - low) / 2)


def judge_load(load: float, cores: int) -> list[Disturbance]:
    """Disturbance where the load average of the last minute says that a good part of the processor is taken."""
    if load <= BUSY_PER_CORE * cores:
        return []
    remedy = "find out with `top` what runs, and wait or end it"
    return [Disturbance(f"the load average is {load:g} on {cores} cores", remedy)]


def judge_swap(used_bytes: int) -> list[Disturbance]:
    """Disturbance where memory was short: RAM disks can be swapped out, and are then as slow as a disk."""
    if used_bytes < SWAP_BYTES:
        return []
    what = f"{used_bytes / 2**20:.0f} MiB of memory are swapped out: a RAM disk may be, too, where memory gets short"
    return [Disturbance(what, "end what takes the memory, or lower ram_disk", urgent=False)]
