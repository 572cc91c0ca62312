"""Options of a protocol's mount: what a sweep may say of one, how a Linux kernel is told, and where it reads back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lab.values import parse_size, size_label


@dataclass(frozen=True)
class MountOption:
    """``level`` makes text of what a sweep says, or raises ValueError; ``told`` makes the kernel's option of that.

    ``found`` is the level in effect, by what the kernel says of the mount (each option, and for one without a value
    an empty text); empty where it does not say.
    """

    level: Callable[[Any], str]
    told: Callable[[str], str]
    found: Callable[[Mapping[str, str]], str]


def one_of(*levels: str) -> Callable[[Any], str]:
    """One of these words, or the number that is written like it."""

    def level(value: Any) -> str:
        if isinstance(value, bool) or str(value) not in levels:
            raise ValueError(f'is not "default" or one of {", ".join(levels)}')
        return str(value)

    return level


def whole(least: int, most: int) -> Callable[[Any], str]:
    """A whole number."""

    def level(value: Any) -> str:
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f'is not "default" or a whole number from {least} to {most}')
        return str(value)

    return level


def yes_or_no(value: Any) -> str:
    """``true`` or ``false`` of TOML."""
    if not isinstance(value, bool):
        raise ValueError('is not "default", true or false')
    return str(value).lower()


def size(least: int, most: int, step: int) -> Callable[[Any], str]:
    """A size that is a multiple of ``step`` bytes."""

    def level(value: Any) -> str:
        if not least <= (found := parse_size(value)) <= most or found % step:
            bounds = f"{size_label(least)} to {size_label(most)}"
            raise ValueError(f'is not "default" or a multiple of {size_label(step)} from {bounds}')
        return size_label(found)

    return level
