"""What a sweep may give as the levels of an option of a protocol or of a tool, and the text that each becomes.

Each function makes text of one value of the sweep, or raises ValueError; ``default`` never comes to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lab.base.units import parse_size, size_label

FILL = "fill"  # of a store: to how many percent it is filled before a trial


def one_of(*levels: str) -> Callable[[object], str]:
    """One of these words, or the number that is written like it."""

    def level(value: object) -> str:
        if isinstance(value, bool) or str(value) not in levels:
            raise ValueError(f'is not "default" or one of {", ".join(levels)}')
        return str(value)

    return level


def whole(least: int, most: int, *words: str) -> Callable[[object], str]:
    """A whole number, or one of some words."""

    def level(value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            others = "".join(f', "{word}"' for word in words)
            raise ValueError(f'is not "default"{others} or a whole number from {least} to {most}')
        return str(value)

    return level


def yes_or_no(value: object) -> str:
    """``true`` or ``false`` of TOML."""
    if not isinstance(value, bool):
        raise ValueError('is not "default", true or false')
    return str(value).lower()


def size(least: int, most: int, step: int) -> Callable[[object], str]:
    """A size that is a multiple of ``step`` bytes."""

    def level(value: object) -> str:
        if not least <= (size_bytes := parse_size(value)) <= most or size_bytes % step:
            bounds = f"{size_label(least)} to {size_label(most)}"
            raise ValueError(f'is not "default" or a multiple of {size_label(step)} from {bounds}')
        return size_label(size_bytes)

    return level


def fill_of(levels: Mapping[str, str]) -> int:
    """To how many percent a store is filled at these levels of its options."""
    return int(levels.get(FILL, "0"))
