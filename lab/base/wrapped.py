"""Wraps text at spaces; a command in backticks stays whole, so that it can be copied."""

import re
import unicodedata

_PIECE = re.compile(r"(\s*)((?:`[^`]+`|\S)+)")  # a gap, and a word or a command
_NAME = re.compile(r"\s*\S+(?: \S+){0,2} {2,}")  # a name in a first column


def columns(text: str) -> int:
    """The columns of a line in a terminal: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(char) in "WF" else 0 if unicodedata.combining(char) else 1 for char in text
    )


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most ``width`` columns, from the second on with ``indent``; longer words get a line of their own."""
    lines, line = [], ""
    for gap, piece in _PIECE.findall(text):
        if line.strip() and columns(line + gap + piece) > width:
            lines.append(line)
            line = indent + piece
        else:
            line += gap + piece
    return [*lines, line]


def wrap_hanging(text: str, width: int) -> list[str]:
    """As :func:`wrap`, with further lines under the text of the first, behind its name if it begins with one."""
    spaces = len(text) - len(text.lstrip())
    named = _NAME.match(text)
    start = named.end() if named else 0
    return wrap(text, width, " " * (start if spaces < start <= width // 2 else spaces + 2))
