"""The files of a Linux host."""

from __future__ import annotations

from lab.platforms.files import Files

DROP_CACHES = "sync; echo 3 > /proc/sys/vm/drop_caches"
# With no byte to copy, dd's nocache is posix_fadvise(POSIX_FADV_DONTNEED) for the whole file. Only clean pages go.
FORGET = """
dd of="$1" count=0 conv=notrunc,fdatasync oflag=nocache </dev/null 2>/dev/null
dd if="$1" count=0 iflag=nocache of=/dev/null 2>/dev/null; :
"""


class LinuxFiles(Files):
    """The files of a Linux host."""

    forgets = True

    def drop_caches(self) -> None:
        """Only clean pages can be dropped, so sync comes first."""
        self.host.shell(DROP_CACHES, root=True, deadline_s=120)

    def forget(self, path: str, deadline_s: float) -> None:
        """See :meth:`Files.forget`; a dd without ``nocache``, such as BusyBox's, forgets nothing."""
        self.host.shell(FORGET, path, deadline_s=deadline_s)
