"""The commands of the lab that a page or a script of its examples has a reader type."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:sudo )?(?:\.venv/bin/)?lab ([a-z].*)")


def shell_lines(path: Path) -> Iterator[str]:
    """The lines of a script, or those of a page's blocks for the shell."""
    text = path.read_text(encoding="utf-8")
    blocks = [text] if path.suffix == ".sh" else [block for language, block in FENCE.findall(text) if language == "sh"]
    for block in blocks:
        yield from block.splitlines()


def commands(path: Path) -> Iterator[list[str]]:
    """The words after ``lab`` in each line that begins with it, up to where its output goes."""
    for line in shell_lines(path):
        if match := COMMAND.match(line):
            words = shlex.split(match[1], comments=True)
            yield words[: words.index(">")] if ">" in words else words
