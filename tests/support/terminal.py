"""A shell at a terminal, and a person who types at it: one line after another, and an answer to what is asked."""

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

PROMPT = "ended $? "  # what the shell has to say when it waits: the exit code of the last command
READY = re.compile(r"ended ([0-9]+) \Z")
CONTROL = re.compile(r"\r|\x1b\[[?0-9;]*[A-Za-z]")
DEADLINE_S = 300.0
Answers = Mapping[re.Pattern[str], str | Callable[[str], str]]


class Terminal:
    """The person's side. ``answers`` says what is typed where the output ends with a pattern, or makes it of that."""

    def __init__(self, descriptor: int, answers: Answers):
        self.descriptor, self.answers = descriptor, answers

    def type(self, line: str, until: re.Pattern[str] | None = None) -> tuple[int, str]:
        """Type a line: the exit code, and what is on the screen. With ``until`` press Ctrl-C once that is there."""
        self._send(line)
        screen, unread = "", ""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            if select.select([self.descriptor], [], [], 0.2)[0]:
                unread = CONTROL.sub("", unread + os.read(self.descriptor, 65536).decode(errors="replace"))
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
    """A terminal with a shell, such as bash, or ssh to a shell elsewhere; it is closed at the end."""
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
