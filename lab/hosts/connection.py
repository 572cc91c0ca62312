"""A connection to a host and the commands that run over it, whichever program speaks SSH."""

import os
import re
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from lab.base.present import present

CONNECT_DEADLINE_S = 20
KEEPALIVE_S = 5
LARGEST_OUTPUT = 16 * 1024**2
# The shell around a command (lab/hosts/ssh.py) writes these to standard error: its pid first, an exit code of 255 last
PID_LINE = re.compile(r"file-share-lab:(\d+)\n")
EXIT_255_LINE = "file-share-lab:exit-255\n"


class Conversation(ABC):
    """One running command. Standard input ends after ``given``, unless it ``goes_on``: then :meth:`say` sends more."""

    # errors of sending, reading and closing if the connection ends meanwhile
    lost: tuple[type[Exception], ...] = (OSError,)

    def __init__(self, given: str, goes_on: bool = False):
        self._chunks: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        self._heard = threading.Condition()
        self._threads = [
            threading.Thread(target=self._send, args=(given.encode(), goes_on), daemon=True),
            *(threading.Thread(target=self._receive, args=(stream,), daemon=True) for stream in self._chunks),
        ]
        for thread in self._threads:
            thread.start()

    @abstractmethod
    def _give(self, data: bytes) -> None:
        """Send some of its standard input."""

    @abstractmethod
    def _end_input(self) -> None:
        """End its standard input."""

    @abstractmethod
    def _read(self, stream: str) -> bytes:
        """Wait for the next bytes of ``stdout`` or ``stderr``; empty at the end."""

    @abstractmethod
    def _wait_for_exit(self, seconds: float) -> bool:
        """Wait for the exit of a command whose output has ended; False if it takes longer."""

    @property
    @abstractmethod
    def exit_code(self) -> int | None:
        """The exit code; None if the connection ended before the command."""

    @abstractmethod
    def close(self) -> None:
        """Stop listening, whatever the command does."""

    def _send(self, given: bytes, goes_on: bool) -> None:
        try:
            if given:
                self._give(given)
            if not goes_on:
                self._end_input()
        except self.lost:
            return  # the command did not read its input; its exit code tells why

    def say(self, line: str) -> None:
        """Send another line. Raises ConnectionError if the command or the connection has ended."""
        try:
            self._give(f"{line}\n".encode())
        except self.lost as error:
            raise ConnectionError(str(error)) from error

    def end_input(self) -> None:
        """End standard input, if the command has not ended yet."""
        with suppress(*self.lost):
            self._end_input()

    def wait_until(self, is_said: Callable[[str], bool], deadline: float) -> bool:
        """Wait until ``is_said`` accepts the output so far; False if its end or the deadline (monotonic) came first."""
        with self._heard:
            while not is_said(self.stdout):
                remaining_s = deadline - time.monotonic()
                if remaining_s <= 0 or not self._threads[1].is_alive():
                    return is_said(self.stdout)
                self._heard.wait(min(remaining_s, 1.0))
        return True

    def _receive(self, stream: str) -> None:
        chunks, total = self._chunks[stream], 0
        try:
            while data := self._read(stream):
                total += len(data)
                if total <= LARGEST_OUTPUT:  # the rest is read and dropped
                    chunks.append(data)
                with self._heard:
                    self._heard.notify_all()
        except self.lost:
            return

    def wait(self, deadline: float, stop_mark: str = "") -> bool:
        """Wait for the end of the command; False if the deadline (monotonic) or ``stop_mark`` (if any) came first."""
        for thread in self._threads:
            while thread.is_alive():
                remaining_s = deadline - time.monotonic()
                if remaining_s <= 0 or (stop_mark and stop_mark in self.stdout):
                    return False
                thread.join(min(remaining_s, 1.0))
        return self._wait_for_exit(max(deadline - time.monotonic(), 0.0))

    def _text(self, stream: str) -> str:
        return b"".join(self._chunks[stream]).decode("utf-8", errors="replace")

    @property
    def stdout(self) -> str:
        return self._text("stdout")

    @property
    def pid(self) -> str | None:
        """Its process id on the host, once known."""
        match = PID_LINE.search(self._text("stderr"))
        return match[1] if match else None

    def wait_for_pid(self, seconds: float) -> str | None:
        """Wait for its process id; None after ``seconds``."""
        deadline = time.monotonic() + seconds
        while self.pid is None and self._threads[2].is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.pid

    @property
    def exited_255(self) -> bool:
        """Whether an exit code of 255 came from the command, not from ssh."""
        return EXIT_255_LINE in self._text("stderr")

    @property
    def errors(self) -> str:
        """Standard error so far, without the lines of the shell around the command."""
        return PID_LINE.sub("", self._text("stderr"), count=1).replace(EXIT_255_LINE, "")


class Connection(ABC):
    """An open connection to a host, to run commands over."""

    @property
    @abstractmethod
    def is_active(self) -> bool:
        """Whether it is open, as far as known here."""

    @property
    @abstractmethod
    def ending(self) -> str:
        """Why the connection ended, if known here; else empty."""

    @abstractmethod
    def begin(self, line: str, given: str, deadline: float, goes_on: bool = False) -> Conversation:
        """Start a line in the login shell. Raises ConnectionError, or TimeoutError for a silent host."""

    @abstractmethod
    def close(self) -> None:
        """Close it."""


class ProcessConversation(Conversation):
    """A process of this machine in a session of its own: Ctrl-C must not end what puts things back."""

    def __init__(
        self, command: Sequence[str], given: str, goes_on: bool = False,
        environment: Mapping[str, str] | None = None, folder: str | None = None,
    ):  # fmt: skip
        self._process = subprocess.Popen(  # noqa: S603 – words of the lab's own; no shell here but one that is named
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, env=environment, cwd=folder,
        )  # fmt: skip
        super().__init__(given, goes_on)

    def _give(self, data: bytes) -> None:
        stdin = present(self._process.stdin)
        try:
            stdin.write(data)
            stdin.flush()
        except OSError:
            with suppress(OSError):  # close() would send the rest again
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
