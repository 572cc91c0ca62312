"""The files and programs of a Linux host."""

from types import MappingProxyType

from lab.base.scripts import read_script
from lab.platforms.files import Files, Programs, parse_df_inodes

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
        return self.read(parse_df_inodes, "df", "-Pi", "--", path)

    def forget(self, path: str, deadline_s: float) -> None:
        """A dd without ``nocache``, such as BusyBox's, forgets nothing."""
        self.host.shell(FORGET, path, deadline_s=deadline_s)


INSTALL = {
    "apt-get": "apt-get install", "dnf": "dnf install", "yum": "yum install", "zypper": "zypper install",
    "pacman": "pacman -S", "apk": "apk add", "opkg": "opkg install",
}  # fmt: skip
# Where Fedora and its relatives call a package of Debian's otherwise
FEDORA = {
    "openssh-client": "openssh-clients", "samba-common-bin": "samba-common-tools", "iputils-ping": "iputils",
    "iproute2": "iproute",
}  # fmt: skip
NAMES: dict[str, dict[str, str]] = {"apt-get": {}, "dnf": FEDORA, "yum": FEDORA}
MANAGERS = f'for name in {" ".join(INSTALL)}; do command -v "$name" >/dev/null && echo "$name"; done; :'


class LinuxPrograms(Programs):
    """The programs of a Linux host. cp leaves no holes and shares no blocks; fio uses the kernel's own engine."""

    calls = MappingProxyType({"cp": ("cp", "--sparse=never", "--reflink=never"), "fio": ("fio", "--ioengine=libaio")})

    def how_to_install(self, package: str) -> str:
        """The command of the first package manager there that the lab knows; ``package`` is its name in Debian."""
        managers = self.host.shell(MANAGERS).stdout.split()
        manager = next((name for name in managers if name in INSTALL), None)
        if manager is None:
            return super().how_to_install(package)
        command = f"`{INSTALL[manager]} {NAMES.get(manager, {}).get(package, package)}` there"
        return command if manager in NAMES else f"{command}, or whatever Debian's {package} is called for {manager}"
