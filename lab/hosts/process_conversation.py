"""A running command that is a process of this machine: a shell, or the ssh program that leads to another host."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from lab.base.present import present
from lab.hosts.connection import Conversation


class ProcessConversation(Conversation):
    """A process in a session of its own: Ctrl-C at the terminal must not end what puts things back."""

    def __init__(
        self,
        command: Sequence[str],
        given: str,
        goes_on: bool = False,
        environment: Mapping[str, str] | None = None,
        folder: str | None = None,
    ):
        self._process = subprocess.Popen(  # noqa: S603 – words of the lab's own; no shell here but one that is named
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=environment,
            cwd=folder,
        )
        super().__init__(given, goes_on)

    def _give(self, data: bytes) -> None:
        stdin = present(self._process.stdin)
        try:
            stdin.write(data)
            stdin.flush()
        except OSError:
            with suppress(OSError):  # it would send the rest once more
                stdin.close()
            raise

    def _end_input(self) -> None:
        present(self._process.stdin).close()

    def _read(self, stream: str) -> bytes:
        source = present(self._process.stdout if stream == "stdout" else self._process.stderr)
        data = os.read(source.fileno(), 65536)
        if not data:
            source.close()
        return data

    def _wait_for_exit(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True
