"""What `lab check` asks a Mac."""

from __future__ import annotations

from lab.base.scripts import beside, read_script
from lab.hosts.assumption import Version
from lab.platforms.facts import Facts
from lab.platforms.findings import Noises
from lab.platforms.macos import noise, tcp
from lab.platforms.macos.captures import CAPTURES
from lab.platforms.preflight import Preflight
from lab.settings.tcp_reach import Reach, ReachByVersion

NAMES = read_script(__file__, "names.sh")


class MacPreflight(Preflight):
    """What a Mac can tell before a run."""

    assumption_files = (beside(__file__, "assumptions.toml"), beside(__file__, "assumptions_of_runs.toml"))
    captures = CAPTURES

    def noises(self, folder: str | None) -> Noises:
        """See :meth:`Preflight.noises`."""
        return noise.noises(self.host, folder)

    def names(self) -> dict[str, list[str]]:
        """See :meth:`Preflight.names`."""
        return parse_names(self.host.shell(NAMES, check=False).stdout)

    def version(self, facts: Facts) -> Version | None:
        """That of macOS: ``(15, 5)``."""
        return tcp.parse_version(facts.os)

    def tcp_reach(self, facts: Facts, reach_by_version: ReachByVersion) -> Reach:
        """See :meth:`Preflight.tcp_reach`; versions of macOS differ."""
        return tcp.tcp_reach(facts.os, reach_by_version)


def parse_names(text: str) -> dict[str, list[str]]:
    """Names by kind, of lines ``kind name``."""
    names: dict[str, list[str]] = {}
    for line in text.splitlines():
        kind, _, name = line.partition(" ")
        names.setdefault(kind, []).append(name)
    return names
