"""A file system of the lab's own, filled with noise before a trial: a full one has less choice of where to write."""

from __future__ import annotations

from lab.base.errors import SettingRefused
from lab.hosts.command import script
from lab.platforms import Platform
from lab.workloads.file import deadline_s, noise, payload_name

FARTHEST_OFF = 2  # percent: what a file system needs for itself grows as it fills
FLUSH = 'sync -f "$1"'


def fill(platform: Platform, path: str, capacity_bytes: int, percent: int) -> tuple[str, str]:
    """Fill what is mounted at ``path``, is empty and has this capacity; that in words, and the level reached.

    All is written out at the end. Raises SettingRefused where another share of it is in use then.
    """
    if not percent:
        return "", "0"
    size_bytes = capacity_bytes * percent // 100
    host, name = platform.host, payload_name("fill")
    file = f"{path}/{name}"
    host.run(*noise("make", file, size_bytes, name), deadline_s=deadline_s(size_bytes))
    script(FLUSH, file, deadline_s=deadline_s(size_bytes)).run(host)
    in_use = 100 - 100 * platform.files.free_bytes(path) / capacity_bytes
    if abs(in_use - percent) > FARTHEST_OFF:
        raise SettingRefused(
            f"a file system was to be filled to {percent} %, and {in_use:.0f} % of it are in use",
            f"leave {percent} out of the sweep",
            host=host.name,
        )
    return f"; filled to {in_use:.1f} %", str(percent)
