"""What `lab check` asks a Linux host."""

from __future__ import annotations

from lab.platforms.facts import Facts
from lab.platforms.findings import Noises
from lab.platforms.linux import noise
from lab.platforms.preflight import Preflight
from lab.settings.tcp_reach import SYSTEM, Reach, ReachByVersion


class LinuxPreflight(Preflight):
    """What a Linux host can tell before a run."""

    def noises(self, folder: str | None) -> Noises:
        """See :meth:`Preflight.noises`."""
        return noise.noises(self.host)

    def tcp_reach(self, facts: Facts, reach_by_version: ReachByVersion) -> Reach:
        """Every socket takes tcp_rmem and tcp_wmem unless its program sets sizes: none of those used here does."""
        return SYSTEM
