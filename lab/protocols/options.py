"""Options of a protocol in a sweep: their levels, their mount options, and how they read back.

``PROGRAM_OPTIONS`` are no mount options: ``client`` and ``server`` name the program that mounts or serves, and
``time_machine`` is an option of the server.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lab.design.option_levels import one_of

SERVER_OPTIONS = ("server", "time_machine")  # a new level restarts the server
PROGRAM_OPTIONS = ("client", *SERVER_OPTIONS)


@dataclass(frozen=True)
class Option:
    """``level`` turns a sweep's value into text, or raises ValueError; ``mount_option`` turns that into a mount option.

    ``read_level`` finds the level in effect in the kernel's mount options by name, or returns an empty text.
    ``programs`` are the levels of an option that names a program. ``about`` is a sentence for the reference.
    """

    level: Callable[[object], str]
    mount_option: Callable[[str], str]
    read_level: Callable[[Mapping[str, str]], str]
    programs: tuple[str, ...] = ()
    about: str = ""


def program(role: str, *names: str) -> Option:
    """The option that names the program that mounts (``client``) or serves (``server``)."""
    about = f"The program that {'mounts' if role == 'client' else 'serves'}."
    return Option(one_of(*names), lambda _: "", lambda mounted_with: mounted_with.get(role, ""), names, about)


def read_levels(options: Mapping[str, Option], mounted_with: Mapping[str, str]) -> dict[str, str]:
    """The levels in effect for a mount, as far as they can be read; see :class:`Option`."""
    return {name: level for name, option in options.items() if (level := option.read_level(mounted_with))}


def mount_option_names(options: Iterable[str]) -> list[str]:
    """The names of the options that become mount options."""
    return [name for name in options if name not in PROGRAM_OPTIONS]


def find_clash(options: Mapping[str, str]) -> str:
    """Why these levels cannot go together; empty where they can."""
    if options.get("client") == "gvfs" and (names := mount_option_names(options)):
        return f"client gvfs with {' and '.join(names)}: GVfs takes no options of a mount"
    if options.get("server") == "ksmbd" and "time_machine" in options:
        return "server ksmbd with time_machine: only Samba serves Macs so"
    if options.get("multichannel") == "true" and options.get("dialect", "").startswith("2"):
        return f"dialect {options['dialect']} with multichannel: SMB has that from 3.0 on"
    return ""
