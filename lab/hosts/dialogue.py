"""A command on a host that is spoken with while it runs: lines to its standard input, lines from its output."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from lab.base.errors import DeadlineExceeded, HostError
from lab.base.os_errors import reason_of
from lab.hosts.connection import Conversation
from lab.hosts.host import STOPPED, Result


@dataclass
class Dialogue:
    """A command that runs. ``lost`` makes the error about a connection that broke; ``deadline`` (monotonic) is when the
    command is ended, ``deadline_s`` after its begin, and ``began`` is that.
    """

    name: str
    argv: tuple[str, ...]
    conversation: Conversation
    began: float
    deadline_s: float
    lost: Callable[[str], HostError]
    exit_code: int | None = None  # once it has ended by itself
    _heard: int = 0  # lines that were taken

    @property
    def deadline(self) -> float:
        """When the command is ended."""
        return self.began + self.deadline_s

    def ask(self, line: str) -> None:
        """Say a line. Raises HostError where the connection broke."""
        try:
            self.conversation.say(line)
        except ConnectionError as error:
            raise self.lost(reason_of(error)) from error

    def next_line(self) -> str:
        """The next line that it prints; empty where its output has ended.

        Raises DeadlineExceeded where none comes in time.
        """
        wanted = self._heard + 1
        if not self.conversation.wait_until(lambda text: text.count("\n") >= wanted, self.deadline):
            if time.monotonic() >= self.deadline:
                raise DeadlineExceeded(self.name, self.argv, self.deadline_s, self.conversation.errors)
            return ""
        self._heard = wanted
        return self.conversation.stdout.split("\n")[wanted - 1]

    def hear(self, is_last: Callable[[str], bool]) -> str:
        """All that it has printed so far, once that is as ``is_last`` wants it, or its output has ended.

        Raises DeadlineExceeded where that does not come in time.
        """
        if not self.conversation.wait_until(is_last, self.deadline) and time.monotonic() >= self.deadline:
            raise DeadlineExceeded(self.name, self.argv, self.deadline_s, self.conversation.errors)
        self._heard = self.conversation.stdout.count("\n")
        return self.conversation.stdout

    def finish(self) -> Result:
        """End its standard input, and wait for its end. Raises as :meth:`lab.hosts.Host.run` does without ``check``."""
        self.conversation.end_input()
        if not self.conversation.wait(self.deadline):
            raise DeadlineExceeded(self.name, self.argv, self.deadline_s, self.conversation.errors)
        self.exit_code = self.conversation.exit_code
        if self.exit_code is None:
            raise self.lost("")
        return self._result(self.exit_code)

    def stopped(self) -> Result:
        """What it has printed, of one that is ended before its own end."""
        return self._result(STOPPED)

    def _result(self, code: int) -> Result:
        elapsed_s = time.monotonic() - self.began
        return Result(self.argv, code, self.conversation.stdout, self.conversation.errors, elapsed_s)
