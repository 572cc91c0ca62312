"""Sizes, times and shares as a person writes them."""

import math
import numbers
import re

from lab.base.untrusted import LARGEST as LARGEST

UNITS = {"": 1, "B": 1}
UNITS |= {f"{prefix}B": 1000 ** (power + 1) for power, prefix in enumerate("kMGT")}
UNITS |= {f"{prefix}iB": 1024 ** (power + 1) for power, prefix in enumerate("KMGT")}
# a letter alone means the same as for dd, iperf3 and most other programs
UNITS |= {letter: 1024 ** (power + 1) for power, prefix in enumerate("KMGT") for letter in (prefix, prefix.lower())}
SECONDS = {"": 1, "s": 1, "min": 60, "h": 3600}


def parse_size(value: object) -> int:
    """Bytes of ``"64 MiB"``, ``"64K"``, ``"1.5 GB"`` or ``65536``; ValueError otherwise. KiB and K: 1024, kB: 1000."""
    expected = "a size such as 64 KiB, 512 MiB or 4 GiB"
    if re.fullmatch(r"\s*[0-9]+\.[0-9]+\s*B?\s*", str(value)):
        raise ValueError(f"is not {expected}: bytes are whole")
    return round(_quantity(value, UNITS, expected, least=1))


def size_label(size: object) -> str:
    """A size as a person writes it: ``default``, ``512 KiB``, ``100000 B``."""
    if not isinstance(size, numbers.Integral):
        return str(size)
    bytes_ = int(size)
    exact = ((unit, power) for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)) if bytes_ % 2**power == 0)
    unit, power = next(exact, ("B", 0))
    return f"{bytes_ >> power} {unit}"


def parse_seconds(value: object) -> float:
    """Seconds of ``"90 s"``, ``"5 min"``, ``"2 h"`` or ``300``; ValueError otherwise."""
    return _quantity(value, SECONDS, "a time such as 90 s, 5 min or 2 h", least=0.001)


def _quantity(value: object, units: dict[str, int], expected: str, least: float) -> float:
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", str(value))
    quantity = float(match[1]) * units.get(match[2], 0) if match else 0.0
    if not least <= quantity < LARGEST:
        raise ValueError(f"is not {expected}")
    return quantity


def parse_share(value: object) -> float:
    """A share of a whole, as ``0.25`` or ``"1/4"``; ValueError otherwise."""
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]+)?)\s*(?:/\s*([0-9]{1,9}))?\s*", str(value))
    share = float(match[1]) / (int(match[2] or 1) or math.nan) if match else math.nan
    if not 0 < share <= 1:
        raise ValueError('is not a share such as 0.25 or "1/4", above 0 and at most 1')
    return share
