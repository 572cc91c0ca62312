"""Text that others wrote, a host above all: read with care, and shown so that it cannot do anything.

A host may be broken into, and then says whatever suits it. Readers raise ValueError for what cannot be true.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from lab.base.units import LARGEST

FASTEST_BYTES_PER_S = 125e9  # 1 Tbit/s: what claims to be faster did not happen
_DEEPEST = 100  # brackets inside brackets: far more than any file here has, far fewer than exhaust Python's stack


def printable(text: str) -> str:
    """The text on as many lines, every other character that a terminal would act on, or not show, as its escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _is_safe(char) else char.encode("unicode_escape").decode() for char in text)


def _is_safe(char: str) -> bool:
    return char.isprintable() or char in "\n\t" or unicodedata.category(char) == "Zs"


def first_line(text: str, most: int = 200) -> str:
    """The first line as something to print, cut at ``most`` characters; empty where there is none."""
    line = printable("".join(text.strip().splitlines()[:1]))
    return line if len(line) <= most else line[: most - 1] + "…"


def from_json(text: str) -> Any:
    """The value in some JSON. Raises ValueError, also for nesting so deep that a recursive walk would fail."""
    try:
        value = json.loads(text)
        if text.count("[") + text.count("{") > _DEEPEST and _depth(value) > _DEEPEST:
            raise RecursionError
    except RecursionError as error:
        raise ValueError(f"brackets stand more than {_DEEPEST} deep in brackets") from error
    return value


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


def count(value: object) -> int:
    """A whole number from 0 on that a counter can have, of text or JSON."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,19}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < LARGEST:
        raise ValueError(f"{value!r:.60} is not a count")
    return value


def quantity(value: object) -> float:
    """A number from 0 on that a clock or a meter can show, of text or JSON."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,19}(\.[0-9]{1,15})?(e-[0-9]{1,2})?", value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST:
        raise ValueError(f"{value!r:.60} is not a quantity")
    return float(value)


def word(value: object, pattern: str = r"[!-~]{1,200}") -> str:
    """Text that matches a pattern as a whole; by default one word of ASCII."""
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise ValueError(f"{value!r:.60} is not of the form that was expected")
    return value
