"""How the programs of a Linux host are called and installed: by its package manager, under the name known there."""

from types import MappingProxyType

from lab.platforms.programs import Programs

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
    """The programs of a Linux host. cp leaves no holes and shares no blocks: every byte is read, sent and written.

    fio's engine is the kernel's own for several requests at once.
    """

    calls = MappingProxyType({"cp": ("cp", "--sparse=never", "--reflink=never"), "fio": ("fio", "--ioengine=libaio")})

    def how_to_install(self, package: str) -> str:
        """The command of the first package manager there that the lab knows; ``package`` is its name in Debian."""
        managers = self.host.shell(MANAGERS).stdout.split()
        manager = next((name for name in managers if name in INSTALL), None)
        if manager is None:
            return super().how_to_install(package)
        command = f"`{INSTALL[manager]} {NAMES.get(manager, {}).get(package, package)}` there"
        return command if manager in NAMES else f"{command}, or whatever Debian's {package} is called for {manager}"
