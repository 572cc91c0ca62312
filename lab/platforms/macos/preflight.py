"""What `lab check` asks a Mac."""

from __future__ import annotations

from lab.hosts.assumption import Version
from lab.platforms.facts import Facts
from lab.platforms.findings import Noises
from lab.platforms.macos import noise, tcp
from lab.platforms.macos.assumptions import SYSTEM
from lab.platforms.preflight import Preflight
from lab.settings.tcp_reach import Reach, ReachByVersion


class MacPreflight(Preflight):
    """What a Mac can tell before a run."""

    assumptions = SYSTEM

    def noises(self, folder: str | None) -> Noises:
        """See :meth:`Preflight.noises`."""
        return noise.noises(self.host, folder)

    def version(self, facts: Facts) -> Version | None:
        """That of macOS: ``(15, 5)``."""
        return tcp.parse_version(facts.os)

    def tcp_reach(self, facts: Facts, reach_by_version: ReachByVersion) -> Reach:
        """See :meth:`Preflight.tcp_reach`; versions of macOS differ."""
        return tcp.tcp_reach(facts.os, reach_by_version)
