"""rsync as people back up Macs: with permissions, times, owners and extended attributes."""

from collections.abc import Sequence

from lab.base.errors import Absent
from lab.hosts import Host
from lab.workloads.rsync import Rsync


class RsyncMetadata(Rsync):
    """Copies all that a Mac stores about a file. Both ends of a remote shell need the same kind of rsync."""

    name = "rsync-metadata"

    def more_flags(self, version: str) -> tuple[str, ...]:
        """Extended attributes are -X since 3.0, where -E is something else, and -E in Apple's 2.6.9 and openrsync."""
        return ("-aX",) if _is_3(version) else ("-aE",)

    def check_ends(self, client: Host, call: Sequence[str], server: Host) -> None:
        """Raise Absent if one end is 3.x and the other Apple's.

        Apple's send ``--extended-attributes`` (rsync/options.c, openrsync/fargs.c), which 3.x lacks, and lack its -X.
        """
        of_client, of_server = self.version(client, call), self.version(server, ("rsync",))
        if _is_3(of_client) != _is_3(of_server):
            problem = f"{self.name} over ssh: {of_client} and {of_server} have no option for attributes in common"
            raise Absent(problem, "install rsync 3 on both hosts, and let it come first in the PATH", host=client.role)


def _is_3(version: str) -> bool:
    return version.startswith("rsync 3")


TOOL = RsyncMetadata()
