"""rsync as people back Macs up with it: permissions, times, owners and extended attributes as well."""

from __future__ import annotations

from collections.abc import Sequence

from lab.base.errors import Absent
from lab.hosts import Host
from lab.workloads.rsync import Rsync


class RsyncMetadata(Rsync):
    """What a Mac knows about a file goes along with it. Both ends of a remote shell need the same kind of engine."""

    name = "rsync-metadata"

    def more(self, version: str) -> tuple[str, ...]:
        """Extended attributes are -X since 3.0, where -E is something else; Apple's 2.6.9 and openrsync have -E."""
        return ("-aX",) if _is_3(version) else ("-aE",)

    def check_ends(self, client: Host, call: Sequence[str], server: Host) -> None:
        """Apple's tell the other end ``--extended-attributes`` (rsync/options.c, openrsync/fargs.c), which 3.x does not
        know, and do not know the X of 3.x. Raises Absent where the ends differ so.
        """
        here, there = self.version(client, call), self.version(server, ("rsync",))
        if _is_3(here) != _is_3(there):
            raise Absent(
                f"{self.name} over ssh: {here} and {there} have no option for attributes in common",
                "install rsync 3 on both hosts, and have it come first in the PATH",
                host=client.role,
            )


def _is_3(version: str) -> bool:
    return version.startswith("rsync 3")


TOOL = RsyncMetadata()
