"""The files of a Linux host."""

from lab.base.scripts import read_script
from lab.platforms.files import Files, parse_df_inodes

DROP_CACHES = "sync; echo 3 > /proc/sys/vm/drop_caches"
# With no byte to copy, dd's nocache is posix_fadvise(POSIX_FADV_DONTNEED) for the whole file. Only clean pages go.
FORGET = read_script(__file__, "forget.sh")


class LinuxFiles(Files):
    """The files of a Linux host."""

    forgets = True

    def drop_caches(self) -> None:
        """Only clean pages can be dropped, so sync comes first."""
        self.host.shell(DROP_CACHES, root=True, deadline_s=120)

    def free_files(self, path: str) -> int | None:
        """See :meth:`Files.free_files`."""
        return self.read(parse_df_inodes, "df", "-Pi", "--", path)

    def forget(self, path: str, deadline_s: float) -> None:
        """See :meth:`Files.forget`; a dd without ``nocache``, such as BusyBox's, forgets nothing."""
        self.host.shell(FORGET, path, deadline_s=deadline_s)
