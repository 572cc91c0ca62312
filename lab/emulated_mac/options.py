"""Words of a command line, taken as getopt(3) of BSD takes them: options end at the first word that is none."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

EMULATION_LACKS = 125  # no program of a Mac exits with it


def parse(
    program: str, words: list[str], letters: str, usage: str, code: int = 1
) -> tuple[list[tuple[str, str]], list[str]]:
    """Options as (letter, value) in their order, and the words after them.

    ``letters`` are as for getopt(3). One that is not documented is refused as on a Mac: message, usage, exit with
    ``code``.
    """
    found: list[tuple[str, str]] = []
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "-":
        word = left.pop(0)[1:]
        if word == "-":
            break
        while word:
            letter, word = word[0], word[1:]
            at = letters.find(letter)
            if at < 0 or letter == ":":
                print(f"{program}: illegal option -- {letter}", file=sys.stderr)
                refuse(usage, code)
            value = ""
            if letters[at + 1 : at + 2] == ":":
                if not word and not left:
                    print(f"{program}: option requires an argument -- {letter}", file=sys.stderr)
                    refuse(usage, code)
                value, word = word or left.pop(0), ""
            found.append((letter, value))
    return found, left


def refuse(usage: str, code: int = 1) -> NoReturn:
    """Print how a program is used, and exit with ``code``."""
    print(usage.rstrip("\n"), file=sys.stderr)
    raise SystemExit(code)


def fail(message: str, code: int = 1) -> NoReturn:
    """Print a message, and exit with ``code``."""
    print(message, file=sys.stderr)
    raise SystemExit(code)


def lacking(program: str, what: str) -> NoReturn:
    """End with a message that nobody takes for a Mac's: a Mac has this, and the emulation does not."""
    fail(f"EMULATED MAC: {program}: {what} is not emulated", EMULATION_LACKS)
