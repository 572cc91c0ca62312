"""How a program is installed on Linux: by the package manager that a host has, under the name it knows there."""

from __future__ import annotations

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


def how_to_install(package: str, managers: list[str]) -> str:
    """The command that installs a package (by its name in Debian) with the first of these managers that is known."""
    manager = next((name for name in managers if name in INSTALL), None)
    if manager is None:
        return f"install what Debian calls {package} there"
    command = f"`{INSTALL[manager]} {NAMES.get(manager, {}).get(package, package)}` there"
    return command if manager in NAMES else f"{command}, or whatever Debian's {package} is called for {manager}"
