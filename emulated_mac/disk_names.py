"""Names of devices and sizes in the programs for disks."""

import re

UNITS = ("B", "KB", "MB", "GB", "TB")


def device_name(word: str) -> str:
    """``disk4`` for ``/dev/disk4``, ``/dev/rdisk4`` or ``disk4``; any other word unchanged."""
    match = re.fullmatch(r"(?:/dev/)?r?(disk\d+(?:s\d+)*)", word)
    return match[1] if match else word


def binary_size(size_bytes: int) -> str:
    """A size as newfs_hfs prints it: ``64 MB``, ``1 GB``, in powers of 1024, cut off (newfs_hfs.c)."""
    value, unit = _scale(size_bytes, 1024)
    return f"{value:.0f} {unit}"


def decimal_size(size_bytes: int) -> str:
    """A size as diskutil prints it: ``1.1 GB``, in powers of 1000."""
    value, unit = _scale(size_bytes, 1000)
    return f"{value:.1f} {unit}"


def _scale(size_bytes: int, base: int) -> tuple[float, str]:
    value, power = float(size_bytes), 0
    while value >= base:
        value, power = value / base, power + 1
    return value, UNITS[power]
