"""A script with its words as one line that sh, bash, zsh, ksh, tcsh, csh and fish all read alike.

In csh and tcsh a quoted text ends at a line end, ``!`` means history even there, and a word has at most 1000 bytes.
fish reads backslashes in a quoted text. So anything but plain text is sent as octal numbers in short words, and
/bin/sh decodes them.
"""

import re
import shlex
from collections.abc import Iterator, Sequence

_PLAIN = re.compile(r"[ -~]*")
_SPECIAL = frozenset("!\\'")
_MOST_BYTES = 900  # of one word
_DECODE = 'eval "set -- $(printf %b "$@")"; '


def script_line(first: str, rest: str, words: Sequence[str]) -> str:
    """The line by which /bin/sh runs ``first`` and ``rest``, plain text; only ``rest`` sees the words decoded."""
    if all(_is_plain(word) and len(word) < _MOST_BYTES for word in words):
        return shlex.join(["/bin/sh", "-c", first + rest, "sh", *words])
    coded = " ".join(f"'{part}'" for part in _coded(shlex.join(words)))
    return f"{shlex.join(['/bin/sh', '-c', first + _DECODE + rest, 'sh'])} {coded}"


def _is_plain(word: str) -> bool:
    return bool(_PLAIN.fullmatch(word)) and not _SPECIAL & set(word)


_CODES = tuple(chr(byte) if _is_plain(chr(byte)) else f"\\0{byte:03o}" for byte in range(256))


def _coded(line: str) -> Iterator[str]:
    """The line in parts that need only plain quotes; no number is cut in two."""
    part = ""
    for byte in line.encode():
        part += _CODES[byte]
        if len(part) >= _MOST_BYTES:
            yield part
            part = ""
    yield part
