"""Operating systems, one file or folder each. An unknown system is an error, never a guess."""

import sys

from lab.base.errors import BadInput, Unsupported
from lab.base.plugins import members
from lab.base.untrusted import first_line
from lab.base.validation import abbreviate
from lab.hosts import ROLES, Host
from lab.hosts.hosts_file import Hosts
from lab.platforms.facts import Facts
from lab.platforms.platform import Platform
from lab.platforms.readings import Connection, Reading
from lab.platforms.timing import Counters, Timing

__all__ = ["Connection", "Counters", "Facts", "Platform", "Reading", "Timing", "check_hosts", "detect", "named"]


def _platforms() -> list[type[Platform]]:
    kinds = members(sys.modules[__name__], "PLATFORM", type)
    return [kind for kind in kinds.values() if issubclass(kind, Platform)]


def check_hosts(config: Hosts) -> None:
    """Raise BadInput for a format of RAM disks in a hosts file that no platform knows."""
    formats = list(dict.fromkeys(name for platform in _platforms() for name in platform.ram_disks_class.formats))
    for name in (*config.clients, *ROLES[1:]):
        section = config.section(name)
        if section.ram_disk_format not in (None, *formats):
            names = f"{', '.join(map(repr, formats[:-1]))} or {formats[-1]!r}"
            message = f"{section.place}[{name}] ram_disk_format: Input should be {names}"
            raise BadInput(f"{message} (it is {abbreviate(section.ram_disk_format)})")


def named(name: str) -> type[Platform] | None:
    """The platform of this name, or None."""
    return next((platform for platform in _platforms() if platform.name == name), None)


def detect(host: Host) -> Platform:
    """The platform of a host, by its ``uname -s``. Raises Unsupported for an unknown system."""
    kernel = host.run("uname", "-s").stdout.strip()
    platforms = _platforms()
    for platform in platforms:
        if platform.uname == kernel:
            return platform(host)
    names = ", ".join(sorted(platform.name for platform in platforms))
    raise Unsupported(f"uname says {first_line(kernel)!r}; the lab knows {names} and does not guess", host=host.name)
