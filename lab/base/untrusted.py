"""Text from others, above all from hosts: read with care, and shown without effect on the terminal.

A host may be compromised and print anything. Parsers raise ValueError for impossible values. A file or a whole run
folder may come from anywhere: only ordinary files are opened, and they are read up to a limit.
"""

import errno
import io
import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lab.base.secret_texts import without_secrets

LARGEST = 2**63  # of counts, sizes, times and seeds, for all file formats and tools
FASTEST_BYTES_PER_S = 125e9  # 1 Tbit/s; no transfer is faster
MOST_INPUT_BYTES = 128 << 10  # of a file that a person writes; the lab's longest has 5 kB
MOST_FILE_BYTES = 8 << 20  # of any other file that is read as a whole, such as run.json
MOST_LINE_BYTES = 1 << 20  # of a line that the lab writes; the longest seen has 4 kB
LONG_LINE = f"a line of more than {MOST_LINE_BYTES >> 10} KiB"
_DEEPEST = 100  # nested brackets: far more than in any file here, far fewer than Python's stack holds


def open_file(path: Path, *, links: bool = False, alone: bool = False, folder: int | None = None) -> io.FileIO:
    """Open an ordinary file for reading, unbuffered, without waiting. Raises OSError for anything else.

    ``links`` allows a link, for paths that a person typed. ``alone`` allows no second name. ``path`` is relative to the
    descriptor ``folder``.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP and not links:
            raise OSError(errno.ELOOP, "it is a link", str(path)) from error
        raise
    status = os.fstat(descriptor)
    wrong = ""
    is_shells_pipe = links and stat.S_ISFIFO(status.st_mode) and path.is_relative_to("/dev")  # `<(…)` of a shell
    if not stat.S_ISREG(status.st_mode) and not is_shells_pipe:
        wrong = "not an ordinary file"
    elif alone and status.st_nlink > 1:
        wrong = "has another name too (a hard link)"
    if wrong:
        os.close(descriptor)
        raise OSError(errno.EINVAL, wrong, str(path))
    os.set_blocking(descriptor, True)
    return io.FileIO(descriptor)


def read_file(path: Path, limit: int, *, links: bool = False, alone: bool = False) -> bytes:
    """The content of an ordinary file of at most ``limit`` bytes. Raises OSError, also as :func:`open_file`."""
    with open_file(path, links=links, alone=alone) as file:
        return read_all(file, limit, path)


def read_all(file: io.FileIO, limit: int, path: Path) -> bytes:
    """The rest of a file, at most ``limit`` bytes. Raises OSError for more."""
    content = bytearray()
    if os.fstat(file.fileno()).st_size <= limit:  # 0 for a pipe
        while len(content) <= limit and (block := file.read(limit + 1 - len(content))):
            content += block
        if len(content) <= limit:
            return bytes(content)
    raise OSError(errno.EFBIG, f"larger than {limit >> 10} KiB, which no such file is", str(path))


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of an ordinary file with their ends, if any. Raises OSError, also for a long line."""
    with open_file(path) as raw, io.BufferedReader(raw) as file:
        while line := file.readline(MOST_LINE_BYTES + 1):
            if len(line) > MOST_LINE_BYTES:
                raise OSError(errno.EFBIG, LONG_LINE, str(path))
            yield line


def printable(text: str) -> str:
    """The text with escapes for characters that a terminal acts on or does not show; line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _is_safe(char) else char.encode("unicode_escape").decode() for char in text)


def shown(text: str) -> str:
    """As :func:`printable`, without passwords: any text may be printed so."""
    return printable(without_secrets(text))


def _is_safe(char: str) -> bool:
    return char.isprintable() or char in "\n\t" or unicodedata.category(char) == "Zs"


def first_line(text: str, most: int = 200) -> str:
    """The first line, printable, cut at ``most`` characters, without passwords; empty if there is none."""
    line = printable(_beginning(text.strip().partition("\n")[0], most).splitlines()[0]) if text.strip() else ""
    return line if len(line) <= most else line[: most - 1] + "…"


def one_line(text: str, most: int | None = None) -> str:
    """The text as one printable line with " / " between lines, cut at ``most`` characters, without passwords."""
    text = _beginning(text, most)
    lines = text.splitlines()
    whole = text if len(lines) < 2 else " / ".join(part.strip() for part in lines if part.strip())
    line = printable(whole.rstrip("\r\n").replace("\t", " "))
    return line if most is None or len(line) <= most else line[: most - 1] + "…"


def _beginning(text: str, most: int | None) -> str:
    """Enough of the text for ``most`` characters, without passwords: the whole may be hundreds of megabytes."""
    return without_secrets(text if most is None else text[: 4 * most])


def listing(names: Iterable[object], most: int = 10) -> str:
    """The first names with commas between them, as one printable line, and the number of the others."""
    texts = list(map(str, names))
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(one_line(text, 80) for text in texts[:most]) + more


def from_json(text: str, amid: bool = False) -> Any:
    """The value of a JSON text. Raises ValueError, also for deep nesting, on which recursion would fail.

    With ``amid`` it is the first object that begins a line, and other lines may surround it.
    """
    try:
        begin = match_of("^{", text, "there is no JSON object in it").start() if amid else 0
        value = json.JSONDecoder().raw_decode(text, begin)[0] if amid else json.loads(text)
        if text.count("[") + text.count("{") > _DEEPEST and _depth(value) > _DEEPEST:
            raise RecursionError
    except RecursionError as error:
        raise ValueError(f"brackets stand more than {_DEEPEST} deep in brackets") from error
    return value


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


def count(value: object) -> int:
    """A possible value of a counter, from text or JSON. Raises ValueError."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,19}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < LARGEST:
        raise ValueError(f"{value!r:.60} is not a count")
    return value


def quantity(value: object) -> float:
    """A number from 0 on that a clock or meter can show, from text or JSON. Raises ValueError."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,19}(\.[0-9]{1,15})?(e-[0-9]{1,2})?", value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST:
        raise ValueError(f"{value!r:.60} is not a quantity")
    return float(value)


def match_of(pattern: str, text: str, problem: str) -> re.Match[str]:
    """The first match of a pattern, whose ^ and $ are ends of lines. Raises ValueError that says the ``problem``."""
    if match := re.search(pattern, text, re.MULTILINE):
        return match
    raise ValueError(problem)


def word(value: object, pattern: str = r"[!-~]{1,200}") -> str:
    """A text that matches a pattern, by default one word of ASCII. Raises ValueError."""
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise ValueError(f"{value!r:.60} is not of the form that was expected")
    return value
