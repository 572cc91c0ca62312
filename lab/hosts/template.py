"""The hosts file as it comes with the lab: what nobody has filled in is told from what somebody has.

A line that is to be filled in ends with the mark ``<--``. Its value counts as filled in once it is another one, or once
the mark is gone: somebody's machine may be called client.local.
"""

from __future__ import annotations

import re
from pathlib import Path

from lab.base.errors import BadInput

MARK = "<--"
# The lines of the file that comes with the lab, without comments: a test compares them
LINES = (
    "[client]", "host = client.local", "user = you", "data_address = 192.168.77.1", "sudo = password",
    "[server]", "host = server.local", "user = you", "data_address = 192.168.77.2", "sudo = password",
    "[share]", "serve = lab", "account = you", "password = prompt",
)  # fmt: skip
# The addresses are those of the guide for two machines: whoever follows it has them
PLACEHOLDERS = ("host = client.local", "host = server.local", "user = you", "account = you")


def is_untouched(text: str) -> bool:
    """Whether a hosts file is the one that comes with the lab, but for comments."""
    return tuple(line for line in map(_without_comment, text.splitlines()) if line) == LINES


def check_filled_in(text: str, path: Path) -> None:
    """Raise BadInput, naming each line, where marked lines still have the value that they come with."""
    section, missing = "", []
    for number, line in enumerate(text.splitlines(), 1):
        content = _without_comment(line)
        if content.startswith("["):
            section = content
        elif MARK in line and content in PLACEHOLDERS:
            missing.append(f"line {number} ({section} {content.partition(' ')[0]})")
    if missing:
        raise BadInput(
            f"{path}: fill in the lines marked {MARK}: {', '.join(missing)}",
            f"`lab init` writes such a file from what it finds; where a value is right as it is, remove its {MARK}",
        )


def _without_comment(line: str) -> str:
    """What a line says, with one space where there are several; a comment begins as in configparser."""
    return " ".join(re.split(r"(?:^|\s)[#;]", line, maxsplit=1)[0].split())
