"""Options of protocols, tools and stores in a sweep: the levels that one can have, each as text.

Each reader makes text of one value of the sweep, or raises ValueError. It never gets ``default``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lab.base.units import parse_size, size_label

FILL = "fill"  # the option of a store: to how many percent it is filled before a trial


@dataclass(frozen=True)
class Option:
    """An option of a tool or a store that a sweep may vary as a factor, such as ``dd.bs`` or ``ext4.data``.

    ``level`` reads a value of the sweep. ``about`` is a sentence for the reference. ``default`` is a tool's level if
    the sweep gives none.
    """

    level: Callable[[object], str]
    about: str
    default: str = ""


def one_of(*levels: str) -> Callable[[object], str]:
    """One of these words, or the number that is written like it."""

    def level(value: object) -> str:
        if isinstance(value, bool) or str(value) not in levels:
            raise ValueError(f'is not "default" or one of {", ".join(levels)}')
        return str(value)

    return level


def whole(least: int, most: int, *words: str) -> Callable[[object], str]:
    """A whole number from ``least`` to ``most``, or one of ``words``."""

    def level(value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            others = "".join(f', "{word}"' for word in words)
            raise ValueError(f'is not "default"{others} or a whole number from {least} to {most}')
        return str(value)

    return level


def yes_or_no(value: object) -> str:
    """A boolean of TOML, as ``true`` or ``false``."""
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
    """To how many percent a store is filled at these levels."""
    return int(levels.get(FILL, "0"))
