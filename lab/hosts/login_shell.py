"""Words as one line that every login shell reads as the same command: sh, bash, zsh, ksh, tcsh, csh and fish.

csh and tcsh end a quoted text at a line end, and see history in a ``!`` even there; a word of an old csh is at most
some 1000 bytes long; fish knows backslashes in a quoted text. So whatever is not plain goes as octal numbers, in short
words, which /bin/sh makes text of again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

_PLAIN = re.compile(r"[ -~]*")
_SPECIAL = frozenset("!\\'")
_MOST_BYTES = 900  # of one word
_DECODE = """/bin/sh -c 'eval "exec $(printf %b "$@")"' sh"""


def command_line(words: Sequence[str]) -> str:
    """The line."""
    line = shlex.join(words)
    is_plain = _PLAIN.fullmatch(line) and not _SPECIAL & set("".join(words)) and max(map(len, words)) < _MOST_BYTES
    return line if is_plain else " ".join([_DECODE, *(f"'{part}'" for part in _coded(line))])


def _coded(line: str) -> Iterator[str]:
    """The line in parts that need no quoting but plain quotes; a number is never cut in two."""
    part = ""
    for byte in line.encode():
        character = chr(byte)
        is_plain = _PLAIN.fullmatch(character) and character not in _SPECIAL
        part += character if is_plain else f"\\0{byte:03o}"
        if len(part) >= _MOST_BYTES:
            yield part
            part = ""
    yield part
