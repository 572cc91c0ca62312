"""Options of a protocol: what a sweep may say of a mount, how a Linux kernel is told, and where it reads back.

No kernel is told of those in ``OF_PROGRAMS``: ``client`` and ``server`` name the program that mounts or serves, and
``time_machine`` is the server's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lab.design.option_levels import one_of

OF_SERVER = ("server", "time_machine")  # with which the server starts anew
OF_PROGRAMS = ("client", *OF_SERVER)


@dataclass(frozen=True)
class Option:
    """``level`` makes text of what a sweep says, or raises ValueError; ``mount_option`` makes a mount option of that.

    ``read_level`` makes the level in effect of the kernel's options of the mount, by name (one without a value has an
    empty text); empty where they do not tell. ``programs`` are the levels of an option that names a program. ``about``
    is a sentence for the reference.
    """

    level: Callable[[object], str]
    mount_option: Callable[[str], str]
    read_level: Callable[[Mapping[str, str]], str]
    programs: tuple[str, ...] = ()
    about: str = ""


def program(role: str, *names: str) -> Option:
    """Which program mounts (``client``) or serves (``server``); a driver adds it to the options of a mount."""
    about = f"The program that {'mounts' if role == 'client' else 'serves'}."
    return Option(one_of(*names), lambda _: "", lambda mounted_with: mounted_with.get(role, ""), names, about)


def mount_option_names(options: Iterable[str]) -> list[str]:
    """Those names of options that a kernel has to be told of."""
    return [name for name in options if name not in OF_PROGRAMS]


def find_clash(options: Mapping[str, str]) -> str:
    """Why these levels cannot go together; empty where they can."""
    if options.get("client") == "gvfs" and (names := mount_option_names(options)):
        return f"client gvfs with {' and '.join(names)}: GVfs takes no options of a mount"
    if options.get("server") == "ksmbd" and "time_machine" in options:
        return "server ksmbd with time_machine: only Samba serves Macs so"
    if options.get("multichannel") == "true" and options.get("dialect", "").startswith("2"):
        return f"dialect {options['dialect']} with multichannel: SMB has that from 3.0 on"
    return ""
