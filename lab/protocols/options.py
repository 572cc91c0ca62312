"""Options of a protocol: what a sweep may say of a mount, how a Linux kernel is told, and where it reads back.

Two are told nobody: ``client`` and ``server`` name the program that mounts or serves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lab.base.units import parse_size, size_label

PROGRAMS = ("client", "server")


@dataclass(frozen=True)
class Option:
    """``level`` makes text of what a sweep says, or raises ValueError; ``told`` makes the kernel's option of that.

    ``found`` is the level in effect, by what the kernel says of the mount (each option, and for one without a value
    an empty text); empty where it does not say. ``programs`` are the levels of one that names a program. ``about`` is a
    sentence for the reference.
    """

    level: Callable[[Any], str]
    told: Callable[[str], str]
    found: Callable[[Mapping[str, str]], str]
    programs: tuple[str, ...] = ()
    about: str = ""


def program(role: str, *names: str) -> Option:
    """Which program mounts (``client``) or serves (``server``); what is said of a mount has it under that name."""
    about = f"The program that {'mounts' if role == 'client' else 'serves'}."
    return Option(one_of(*names), lambda _: "", lambda said: said.get(role, ""), names, about)


def told(options: Iterable[str]) -> list[str]:
    """Those names of options that a kernel has to be told."""
    return [name for name in options if name not in PROGRAMS]


def clash(options: Mapping[str, str]) -> str:
    """Why these levels cannot go together; empty where they can."""
    if options.get("client") == "gvfs" and (names := told(options)):
        return f"client gvfs with {' and '.join(names)}: GVfs takes no options of a mount"
    return ""


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
