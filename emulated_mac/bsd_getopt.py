"""Command lines as BSD's getopt(3) reads them, and the ways in which a program fails. Options end at the first word
that is no option. Errors have a Mac's wording, unlike those of Python's ``getopt``.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

NOT_EMULATED = 125  # no program of a Mac exits with it


def parse(
    program: str, words: list[str], letters: str, usage: str, code: int = 1
) -> tuple[list[tuple[str, str]], list[str]]:
    """The options as (letter, value) in their order, and the words after them. ``letters`` are as for getopt(3). An
    unknown option ends the program as on a Mac: message, usage, exit with ``code``.
    """
    options: list[tuple[str, str]] = []
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "-":
        word = left.pop(0)[1:]
        if word == "-":
            break
        while word:
            letter, word = word[0], word[1:]
            index = letters.find(letter)
            if index < 0 or letter == ":":
                print(f"{program}: illegal option -- {letter}", file=sys.stderr)
                fail_with_usage(usage, code)
            value = ""
            if letters[index + 1 : index + 2] == ":":
                if not word and not left:
                    print(f"{program}: option requires an argument -- {letter}", file=sys.stderr)
                    fail_with_usage(usage, code)
                value, word = word or left.pop(0), ""
            options.append((letter, value))
    return options, left


def fail_with_usage(usage: str, code: int = 1) -> NoReturn:
    """Print how a program is used, and exit with ``code``."""
    print(usage.rstrip("\n"), file=sys.stderr)
    raise SystemExit(code)


def fail(message: str, code: int = 1) -> NoReturn:
    """Print a message, and exit with ``code``."""
    print(message, file=sys.stderr)
    raise SystemExit(code)


def fail_as_not_emulated(program: str, feature: str) -> NoReturn:
    """Exit with a message that no Mac prints: a Mac has this feature, but the emulation lacks it."""
    fail(f"EMULATED MAC: {program}: {feature} is not emulated", NOT_EMULATED)
