"""Terminals: a person who types and answers questions, and the screen that a command leaves."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

PROMPT = "ended $? "  # the shell's prompt shows the exit code of the last command
READY = re.compile(r"ended ([0-9]+) \Z")
ESCAPES = re.compile(r"\r|\x1b\[[?0-9;]*[A-Za-z]")
DEADLINE_S = 300.0
Answers = Mapping[re.Pattern[str], str | Callable[[str], str]]


class Terminal:
    """The person's side. If the output ends with a pattern of ``answers``, types that answer, or what it returns."""

    def __init__(self, descriptor: int, answers: Answers):
        self.descriptor, self.answers = descriptor, answers

    def type(self, line: str, until: re.Pattern[str] | None = None) -> tuple[int, str]:
        """Type a line: exit code and screen. With ``until``, press Ctrl-C once that is on the screen."""
        self._send(line)
        screen, unread = "", ""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            if select.select([self.descriptor], [], [], 0.2)[0]:
                unread = ESCAPES.sub("", unread + os.read(self.descriptor, 65536).decode(errors="replace"))
            if ended := READY.search(unread):
                return int(ended[1]), screen + unread[: ended.start()]
            if until and until.search(unread):
                self._send("\x03", "")
                until = None
            for pattern, answer in self.answers.items():
                if pattern.search(unread):
                    self._send(answer if isinstance(answer, str) else answer(screen + unread))
                    screen, unread = screen + unread, ""
        raise AssertionError(f"{line!r} did not end: {screen}{unread}")

    def _send(self, text: str, end: str = "\n") -> None:
        os.write(self.descriptor, (text + end).encode())


@contextmanager
def terminal(command: list[str], folder: Path, environment: Mapping[str, str], answers: Answers) -> Iterator[Terminal]:
    """A terminal with a shell, such as bash or ssh; it is closed at the end."""
    own, other = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *command], cwd=folder, env={**os.environ, "TERM": "dumb", **environment},
        stdin=other, stdout=other, stderr=other,
    )  # fmt: skip
    os.close(other)
    try:
        typed = Terminal(own, answers)
        typed.type(f"PS1='{PROMPT}'")
        yield typed
    finally:
        os.close(own)  # which hangs up on the shell
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()


CONTROL = re.compile(r"\x1b\[\?[0-9]+[a-z]|\x1b\[[0-9;]*m")
ERASED = re.compile(r"\x1b\[([0-9]*)([A-K])|\r|\n|[^\x1b\r\n]+")


def on_screen(
    command: Sequence[str], width: int, *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> list[str]:
    """The lines that a command leaves on a terminal of this width, from the first on.

    Long lines are not wrapped, so that tests can see them.
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
    """The screen after this was written to it; a cursor that moves up overwrites."""
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
