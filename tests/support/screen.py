"""A command on a terminal of a given width: a pseudo-terminal, and what is on it in the end."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

CONTROL = re.compile(r"\x1b\[\?[0-9]+[a-z]|\x1b\[[0-9;]*m")
ERASED = re.compile(r"\x1b\[([0-9]*)([A-K])|\r|\n|[^\x1b\r\n]+")


def on_screen(
    command: Sequence[str], width: int, *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> list[str]:
    """The lines that a command leaves on a terminal that many columns wide, all of them from its first on.

    A line may be longer than the terminal, which would break it: whoever tests looks at that.
    """
    own, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    variables |= {"TERM": "xterm", "PAGER": "cat", **(environment or {})}
    with subprocess.Popen(command, stdin=other, stdout=other, stderr=other, cwd=cwd, env=variables) as process:
        os.close(other)
        written = b""
        try:
            while data := os.read(own, 65536):
                written += data
        except OSError:  # Linux says so that nobody holds the other end
            pass
        os.close(own)
        process.wait(60)
    return screen_of(CONTROL.sub("", written.decode()))


def screen_of(text: str) -> list[str]:
    """What is on a screen after this was written to it: a cursor that moves up writes over what was there."""
    lines, row, column = [""], 0, 0
    for part in ERASED.finditer(text):
        if part[2] == "A":
            row = max(0, row - int(part[1] or 1))
        elif part[2] == "K":
            lines[row] = "" if part[1] == "2" else lines[row][:column]
        elif part[0] == "\r":
            column = 0
        elif part[0] == "\n":
            row += 1
            lines += [""] if row == len(lines) else []
        elif part[2] is None:
            lines[row] = lines[row][:column].ljust(column) + part[0] + lines[row][column + len(part[0]) :]
            column += len(part[0])
    return [line.rstrip() for line in lines]
