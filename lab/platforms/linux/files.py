"""The files of a Linux host."""

from __future__ import annotations

from lab.platforms.files import Files

DROP_CACHES = "sync; echo 3 > /proc/sys/vm/drop_caches"


class LinuxFiles(Files):
    """The files of a Linux host."""

    def drop_caches(self) -> None:
        """Only clean pages can be dropped, so sync comes first."""
        self.host.shell(DROP_CACHES, root=True, deadline_s=120)
