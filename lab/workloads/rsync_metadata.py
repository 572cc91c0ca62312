"""rsync as people back Macs up with it: permissions, times, owners and extended attributes as well."""

from __future__ import annotations

from lab.workloads.rsync import Rsync


class RsyncMetadata(Rsync):
    """What a Mac knows about a file goes along with it. Both ends of a remote shell need the same engine."""

    name = "rsync-metadata"

    def more(self, version: str) -> tuple[str, ...]:
        """Extended attributes are -X since 3.0, where -E is something else; Apple's 2.6.9 and openrsync have -E."""
        return ("-aX",) if version.startswith("rsync 3") else ("-aE",)


TOOL = RsyncMetadata()
