"""A script and its words as one line that every login shell reads as the same: sh, bash, zsh, ksh, tcsh, csh and fish.

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
_DECODE = 'eval "set -- $(printf %b "$@")"; '


def script_line(first: str, rest: str, words: Sequence[str]) -> str:
    """The line that has /bin/sh run ``first`` and ``rest``, a script of plain text, with these words.

    Only ``rest`` sees the words as they are.
    """
    is_plain = all(map(_is_plain, words)) and max(map(len, words), default=0) < _MOST_BYTES
    if is_plain:
        return shlex.join(["/bin/sh", "-c", first + rest, "sh", *words])
    coded = " ".join(f"'{part}'" for part in _coded(shlex.join(words)))
    return f"{shlex.join(['/bin/sh', '-c', first + _DECODE + rest, 'sh'])} {coded}"


def _is_plain(word: str) -> bool:
    return bool(_PLAIN.fullmatch(word)) and not _SPECIAL & set(word)


_CODES = tuple(chr(byte) if _is_plain(chr(byte)) else f"\\0{byte:03o}" for byte in range(256))


def _coded(line: str) -> Iterator[str]:
    """The line in parts that need no quoting but plain quotes; a number is never cut in two."""
    part = ""
    for byte in line.encode():
        part += _CODES[byte]
        if len(part) >= _MOST_BYTES:
            yield part
            part = ""
    yield part
