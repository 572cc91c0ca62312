"""The files of a Linux host."""

from __future__ import annotations

from lab.platforms.files import Files


class LinuxFiles(Files):
    """The files of a Linux host."""

    def drop_caches(self) -> None:
        """Only clean pages can be dropped, so sync comes first."""
        self.host.shell("sync; echo 3 > /proc/sys/vm/drop_caches", root=True, deadline_s=120)
