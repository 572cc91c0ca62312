"""sysctl(8), which changed twice: 10.10 took FreeBSD's, 14.4 changed it again (system_cmds: sysctl.c of each tag)."""

from __future__ import annotations

import sys

from .. import bsd_getopt, profiles
from ..kernel_client import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

OLD_USAGE = """\
usage: sysctl [-bn] variable ...
       sysctl [-bn] -w variable=value ...
       sysctl [-bn] -a
       sysctl [-bn] -A
       sysctl [-bn] -X"""
USAGE = """\
usage: sysctl [-bdehinoqx] name[=value] ...
       sysctl [-bdehnoqx] -a"""


class Printer:
    """How names and values are printed, and the exit code so far."""

    def __init__(self, number: tuple[int, ...], flags: set[str]):
        self.number, self.flags, self.code = number, flags, 0
        self.old, self.middle = number < (10, 10), (10, 10) <= number < (14, 4)
        self.separator = "=" if "e" in flags else ": "

    def show(self, name: str, value: str) -> None:
        """Print one line as the options ask for it."""
        if "localized" in self.flags and name == "vm.loadavg":
            value = value.replace(".", ",")
        print(value if "n" in self.flags else name if "N" in self.flags else f"{name}{self.separator}{value}")

    def refuse(self, word: str, message: str) -> None:
        """Report a write that failed; up to 10.9 the exit code stays 0."""
        print(f"sysctl: {word.partition('=')[0] if self.old else word}: {message}", file=sys.stderr)
        if not self.old:
            self.code = 1


def main(argv: list[str]) -> int:
    """Read, write or list."""
    number = profiles.current().number
    old = number < (10, 10)
    letters, usage = ("bnwaAX", OLD_USAGE) if old else ("AabdehiNnoqwXx", USAGE)
    options, words = bsd_getopt.parse("sysctl", argv, letters, usage, 1 if not old else 64)
    flags = {letter for letter, _ in options}
    printer = Printer(number, flags | ({"localized"} if call("fault", name="localized") else set()))
    if flags & {"a", "A", "X"}:
        for name in call("sysctl_names"):
            printer.show(name, call("sysctl_read", name=name))
        return 0
    if not words:
        bsd_getopt.fail_with_usage(usage, 1 if not old else 64)
    for word in words:
        if not (_write if "=" in word else _read)(printer, word):
            return printer.code or 1
    return printer.code


def _read(printer: Printer, name: str) -> bool:
    """Print a variable, or all below a name; False ends the program."""
    names = [variable for variable in call("sysctl_names") if variable == name or variable.startswith(f"{name}.")]
    for matching in names:
        printer.show(matching, call("sysctl_read", name=matching))
    return True if names else _refuse_unknown(printer, name)


def _refuse_unknown(printer: Printer, name: str) -> bool:
    if printer.old and name.startswith("net."):
        print("net: class is not implemented", file=sys.stderr)
        return True
    if printer.old:
        last = name.rpartition(".")[2]
        print(f"second level name {last} in {name} is invalid", file=sys.stderr)
        printer.code = 1
        return True
    if "i" in printer.flags:
        return True
    if "q" not in printer.flags:
        print(f"sysctl: unknown oid '{name}'", file=sys.stderr)
    printer.code = 1
    return not printer.middle


def _write(printer: Printer, word: str) -> bool:
    """Write a variable; False ends the program."""
    name, _, text = word.partition("=")
    if printer.old and "w" not in printer.flags:
        bsd_getopt.fail("sysctl: must specify -w to set variables", 2)
    if name not in call("sysctl_names"):
        return _refuse_unknown(printer, name)
    if not call("sysctl_writable", name=name):
        print(f"sysctl: oid '{name}' is read only", file=sys.stderr)
        printer.code = 1
        return not printer.middle
    before = call("sysctl_read", name=name)
    number = _integer(text)
    if number is None:
        bsd_getopt.fail(f"sysctl: invalid integer '{text}'", 1)
    _attempt(printer, word, before, lambda: call("sysctl_write", name=name, value=number))
    return True


def _attempt(printer: Printer, word: str, before: str, write: Callable[[], None]) -> None:
    name = word.partition("=")[0]
    try:
        write()
    except OSError as error:
        printer.show(name, before)
        sys.stdout.flush()
        printer.refuse(word, str(error.strerror))
    else:
        printer.show(name, f"{before} -> {call('sysctl_read', name=name)}")


def _integer(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None
