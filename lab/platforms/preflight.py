"""What `lab check` asks a system before a run. Nothing here changes anything."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from lab.hosts.assumption import Capture, Version
from lab.platforms.facts import Facts
from lab.platforms.findings import Noises
from lab.platforms.part import Part
from lab.settings.tcp_reach import Reach, ReachByVersion

# A clock with fractions, where there is one. Its absence is a finding of its own
EPOCH = "perl -MTime::HiRes=time -e 'printf \"%.3f\\n\", time' 2>/dev/null || date +%s"


class Preflight(Part):
    """What a system can tell before a run; by default nothing.

    ``assumption_files`` have what the lab takes for granted about such a system (:mod:`lab.hosts.assumption_file`).
    ``captures`` are outputs worth keeping.
    """

    assumption_files: ClassVar[tuple[Path, ...]] = ()
    captures: ClassVar[tuple[Capture, ...]] = ()

    def noises(self, folder: str | None) -> Noises:
        """The looks for what would disturb a measurement; ``folder`` is one on a disk that shared files are in.

        Each raises LabFailure, or ValueError for what it cannot read.
        """
        return {}

    def names(self) -> dict[str, list[str]]:
        """What names this host and the people on it, by kind, as far as it says: to be left out of what is shared."""
        return {}

    def version(self, facts: Facts) -> Version | None:
        """The version of the system by which assumptions hold or not; None where that cannot be told."""
        return None

    def tcp_reach(self, facts: Facts, reach_by_version: ReachByVersion) -> Reach:
        """Whether TCP buffers reach the sockets on this host, of which a driver says ``reach_by_version``."""
        return Reach(None, f"nothing is known about {facts.platform}")

    def epoch(self) -> str:
        """What this host's clock says, in seconds since 1970; without a fraction where no script runs."""
        return self.host.shell(EPOCH).stdout
