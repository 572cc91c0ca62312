"""What `lab check` asks a Mac."""

import re
from collections.abc import Callable

from lab.base.scripts import beside, read_script
from lab.hosts.assumption import Version
from lab.platforms.facts import Facts
from lab.platforms.macos import disturbances as parsers
from lab.platforms.macos.captures import CAPTURES
from lab.platforms.macos.disturbances import FIREWALL, SOCKETFILTERFW, STATUS
from lab.platforms.preflight import Disturbance, Looks, Preflight
from lab.settings.tcp_reach import Reach, ReachByVersion, reach_at

NAMES = read_script(__file__, "names.sh")
# mdutil wants a volume: where the folder's file system is mounted is the last column, which may have blanks
INDEXED = r"""
volume=$(df -P "$1" | sed -n '2s/^.*% *\(\/.*\)$/\1/p') && mdutil -s "$volume"
"""
UNSCALED = (14, 0)  # from here on a buffer may be as large as the limit of the kernel


class MacPreflight(Preflight):
    """What a Mac can tell before a run."""

    assumption_files = (beside(__file__, "assumptions.toml"), beside(__file__, "assumptions_of_runs.toml"))
    captures = CAPTURES

    def disturbances(self, folder: str | None) -> Looks:
        """See :meth:`Preflight.disturbances`."""
        looks: dict[str, Callable[[], list[Disturbance]]] = {
            "power": lambda: [
                *parsers.parse_pmset(self.host.run("pmset", "-g").stdout),
                *parsers.parse_battery(self.host.run("pmset", "-g", "batt").stdout),
            ],
            "backups and indexers": lambda: [
                *parsers.parse_tmutil(self.host.shell(STATUS).stdout),
                *parsers.parse_processes(self.host.run("ps", "-A", "-o", "pcpu=", "-o", "comm=").stdout),
            ],
            "firewall": lambda: parsers.parse_firewall(self.host.shell(FIREWALL, SOCKETFILTERFW).stdout),
            "load": lambda: parsers.parse_load(self.host.run("sysctl", "vm.loadavg", "hw.ncpu").stdout),
            "swap": lambda: parsers.parse_swap(self.host.run("sysctl", "vm.swapusage").stdout),
        }
        if folder is not None:
            looks["Spotlight"] = lambda: parsers.parse_mdutil(self.host.shell(INDEXED, folder).stdout, folder)
        return looks

    def names(self) -> dict[str, list[str]]:
        """See :meth:`Preflight.names`."""
        return parse_names(self.host.shell(NAMES, check=False).stdout)

    def version(self, facts: Facts) -> Version | None:
        """The version of macOS, such as ``(15, 5)``."""
        return parse_version(facts.os)

    def tcp_reach(self, facts: Facts, reach_by_version: ReachByVersion) -> Reach:
        """See :meth:`Preflight.tcp_reach`; versions of macOS differ."""
        return tcp_reach(facts.os, reach_by_version)


def parse_names(text: str) -> dict[str, list[str]]:
    """Names by kind, of lines ``kind name``."""
    names: dict[str, list[str]] = {}
    for line in text.splitlines():
        kind, _, name = line.partition(" ")
        names.setdefault(kind, []).append(name)
    return names


def tcp_reach(system: str, reach_by_version: ReachByVersion) -> Reach:
    """The reach at the version of ``system``, which is such as ``macOS 14.4 (23E214)``."""
    version = parse_version(system)
    if version is None:
        return Reach(None, f"its version cannot be read from {system!r}")
    return reach_at(version, reach_by_version) or Reach(None, "nothing is known about its sockets on this version")


def largest(system: str, limit: int) -> int:
    """The largest size in bytes that sendspace and recvspace take where kern.ipc.maxsockbuf is ``limit``.

    xnu (uipc_socket2.c, tcp_usrreq.c) keeps room for the bookkeeping of each 2 KiB, up to macOS 13.
    """
    version = parse_version(system)
    return limit if version and version >= UNSCALED else limit // 2304 * 2048


def parse_version(system: str) -> Version | None:
    """Major and minor version in the name of a system."""
    match = re.search(r"\b([0-9]{1,4})\.([0-9]{1,4})", system)
    return (int(match[1]), int(match[2])) if match else None
