"""What `lab check` asks a system before a run. Nothing here changes anything."""

from __future__ import annotations

from lab.platforms.facts import Facts
from lab.platforms.findings import Noises, Reach
from lab.platforms.part import Part

# perl's clock has fractions. It is on nearly every host, and its absence is a finding of its own
EPOCH = "perl -MTime::HiRes=time -e 'printf \"%.3f\\n\", time' 2>/dev/null || date +%s"


class Preflight(Part):
    """What a system can tell before a run; by default nothing."""

    def noises(self, folder: str | None) -> Noises:
        """The looks for what would disturb a measurement; ``folder`` is one on a disk that shared files are in.

        Each raises LabFailure, or ValueError for what it cannot read.
        """
        return {}

    def tcp_reach(self, facts: Facts, protocol: str, role: str) -> Reach:
        """Whether TCP buffers reach the sockets of a protocol on this host, which has these facts and this role."""
        return Reach(None, f"nothing is known about {facts.platform}")

    def epoch(self) -> str:
        """What this host's clock says, in seconds since 1970; without a fraction where it has no perl."""
        return self.host.shell(EPOCH).stdout
