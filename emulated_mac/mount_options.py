"""The options of mount(8) that every kind of mount takes, and how getmntopts(3) reads them."""

import sys
from collections.abc import Mapping

# mntopts.h: MOPT_STDOPTS, and what mount(8) prints for each; in the order in which mount prints them
STANDARD = {
    "dev": "nodev", "exec": "noexec", "suid": "nosuid", "rdonly": "read-only", "union": "union",
    "automounted": "automounted", "defwrite": "defwrite", "noowners": "noowners", "nobrowse": "nobrowse",
}  # fmt: skip
ALIASES = {
    "nodev": ("dev", False), "noexec": ("exec", False), "nosuid": ("suid", False), "ro": ("rdonly", True),
    "rw": ("rdonly", False), "rdonly": ("rdonly", True), "union": ("union", True), "automounted": ("automounted", True),
    "defwrite": ("defwrite", True), "noowners": ("noowners", True), "ignoreowners": ("noowners", True),
    "owners": ("noowners", False), "nobrowse": ("nobrowse", True), "browse": ("nobrowse", False),
    "dev": ("dev", True), "exec": ("exec", True), "suid": ("suid", True),
}  # fmt: skip
SHOWN_WHEN = {"dev": False, "exec": False, "suid": False}


class Refused(Exception):
    """The command ends with this message and exit code."""

    def __init__(self, message: str, code: int):
        super().__init__(message)
        self.code = code


def parse(text: str, own_options: Mapping[str, bool]) -> tuple[dict[str, bool], dict[str, str]]:
    """Parse the words of -o into standard options, and options of this kind of mount with their values. ``own_options``
    names the latter and says which take a value. Raises Refused with the words of getmntopts(3).
    """
    standard: dict[str, bool] = {}
    own: dict[str, str] = {}
    for word in filter(None, text.split(",")):
        name, equals, value = word.partition("=")
        if name in own_options and (own_options[name] or not equals):
            own[name] = value
        elif name in ALIASES and not equals:
            option, on = ALIASES[name]
            standard[option] = on
        else:
            raise Refused(f"-o {name}: option not supported", 1)
    return standard, own


def flags(standard: Mapping[str, bool], user: int) -> list[str]:
    """What mount(8) prints in brackets; a mount by another user than root is always nodev and nosuid."""
    return changed_options(dict(standard) | ({"dev": False, "suid": False} if user != 0 else {}))


def changed_options(standard: Mapping[str, bool]) -> list[str]:
    """mount(8)'s words for options that differ from their defaults."""
    return [word for option, word in STANDARD.items() if standard.get(option) is SHOWN_WHEN.get(option, True)]


def warn(program: str, message: str) -> None:
    """As warnx(3) prints."""
    print(f"{program}: {message}", file=sys.stderr)
