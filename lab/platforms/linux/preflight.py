"""What `lab check` asks a Linux host."""

from __future__ import annotations

from lab.platforms.facts import Facts
from lab.platforms.findings import Noises, Reach
from lab.platforms.linux import noise
from lab.platforms.preflight import Preflight


class LinuxPreflight(Preflight):
    """What a Linux host can tell before a run."""

    def noises(self, folder: str | None) -> Noises:
        """See :meth:`Preflight.noises`."""
        return noise.noises(self.host)

    def tcp_reach(self, facts: Facts, protocol: str, role: str) -> Reach:
        """Every socket takes tcp_rmem and tcp_wmem unless its program sets sizes: none of those used here does."""
        return Reach(True, "its sockets take the sizes of the system")
