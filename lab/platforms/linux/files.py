"""The files and programs of a Linux host."""

from types import MappingProxyType

from lab.base.scripts import read_script
from lab.hosts.systems import how_to_install
from lab.platforms.files import Files, Programs, parse_free_units

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
        return self.read(parse_free_units, "df", "-Pi", "--", path)

    def forget(self, path: str, deadline_s: float) -> None:
        """A dd without ``nocache``, such as BusyBox's, forgets nothing."""
        self.host.shell(FORGET, path, deadline_s=deadline_s)


class LinuxPrograms(Programs):
    """The programs of a Linux host. cp leaves no holes and shares no blocks; fio uses the kernel's own engine."""

    calls = MappingProxyType({"cp": ("cp", "--sparse=never", "--reflink=never"), "fio": ("fio", "--ioengine=libaio")})

    def how_to_install(self, packages: str, or_else: str = "") -> str:
        return how_to_install(self.host, packages, or_else)
