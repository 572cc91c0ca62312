"""What `lab check` asks a Mac."""

from __future__ import annotations

from lab.platforms.facts import Facts
from lab.platforms.findings import Noises, Reach
from lab.platforms.macos import noise, tcp
from lab.platforms.preflight import Preflight


class MacPreflight(Preflight):
    """What a Mac can tell before a run."""

    def noises(self, folder: str | None) -> Noises:
        """See :meth:`Preflight.noises`."""
        return noise.noises(self.host, folder)

    def tcp_reach(self, facts: Facts, protocol: str, role: str) -> Reach:
        """See :mod:`lab.platforms.macos.tcp`."""
        return tcp.tcp_reach(facts.os, protocol, role)
