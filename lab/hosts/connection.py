"""A connection to a host and the commands that run over it, whichever program speaks SSH."""

from __future__ import annotations

import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress

CONNECT_DEADLINE_S = 20
KEEPALIVE_S = 5
LARGEST_OUTPUT = 16 * 1024**2
# What the shell around a command says on standard error (lab/hosts/ssh.py): its pid first, and last an exit code of 255
PID_LINE = re.compile(r"file-share-lab:(\d+)\n")
EXIT_255_LINE = "file-share-lab:exit-255\n"


class Conversation(ABC):
    """One running command: its standard input is sent and both its streams are read, all at once.

    Its standard input ends after ``given``, unless it ``goes_on``: then more can be said (:meth:`say`).
    """

    # what sending, reading and closing may raise where the connection ends meanwhile
    lost: tuple[type[Exception], ...] = (OSError,)

    def __init__(self, given: str, goes_on: bool = False):
        self._chunks: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        self._heard = threading.Condition()
        jobs: tuple[Callable[[], None], ...] = (
            lambda: self._send(given.encode(), goes_on),
            lambda: self._receive("stdout"),
            lambda: self._receive("stderr"),
        )
        self._threads = [threading.Thread(target=job, daemon=True) for job in jobs]
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
        """Wait for the exit of a command whose output has ended; False where it takes longer."""

    @property
    @abstractmethod
    def exit_code(self) -> int | None:
        """The exit code; None where the connection ended before the command."""

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
            return  # it did not want its input; its exit code tells

    def say(self, line: str) -> None:
        """Send another line. Raises ConnectionError where nobody hears it any more."""
        try:
            self._give(f"{line}\n".encode())
        except self.lost as error:
            raise ConnectionError(str(error)) from error

    def end_input(self) -> None:
        """Say that no more will come; a command that has ended has not heard it."""
        with suppress(*self.lost):
            self._end_input()

    def wait_until(self, is_said: Callable[[str], bool], deadline: float) -> bool:
        """Wait until what it printed so far is as ``is_said`` wants it; False where its output ended, or the deadline
        (monotonic) came first.
        """
        with self._heard:
            while not is_said(self.stdout):
                left = deadline - time.monotonic()
                if left <= 0 or not self._threads[1].is_alive():
                    return is_said(self.stdout)
                self._heard.wait(min(left, 1.0))
        return True

    def _receive(self, stream: str) -> None:
        chunks, total = self._chunks[stream], 0
        try:
            while data := self._read(stream):
                total += len(data)
                if total <= LARGEST_OUTPUT:  # beyond it, it is read and forgotten
                    chunks.append(data)
                with self._heard:
                    self._heard.notify_all()
        except self.lost:
            return

    def wait(self, deadline: float, stop_mark: str = "") -> bool:
        """Wait for the end of the command and of its output; False where the deadline (monotonic) came first.

        So it is where its standard output came to have ``stop_mark`` in it (none if empty).
        """
        for thread in self._threads:
            while thread.is_alive():
                left = deadline - time.monotonic()
                if left <= 0 or (stop_mark and stop_mark in self.stdout):
                    return False
                thread.join(min(left, 1.0))
        return self._wait_for_exit(max(deadline - time.monotonic(), 0.0))

    def _text(self, stream: str) -> str:
        return b"".join(self._chunks[stream]).decode("utf-8", errors="replace")

    @property
    def stdout(self) -> str:
        """What it printed so far."""
        return self._text("stdout")

    @property
    def pid(self) -> str | None:
        """Its process id on the host, once known."""
        match = PID_LINE.search(self._text("stderr"))
        return match[1] if match else None

    def wait_for_pid(self, seconds: float) -> str | None:
        """Its process id; None where it is still not known after ``seconds``."""
        deadline = time.monotonic() + seconds
        while self.pid is None and self._threads[2].is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.pid

    @property
    def exited_255(self) -> bool:
        """Whether an exit code of 255 is the command's own."""
        return EXIT_255_LINE in self._text("stderr")

    @property
    def errors(self) -> str:
        """What it wrote to standard error so far, without our own lines."""
        return PID_LINE.sub("", self._text("stderr"), count=1).replace(EXIT_255_LINE, "")


class Connection(ABC):
    """An open connection to a host, to run commands over."""

    @property
    @abstractmethod
    def is_active(self) -> bool:
        """Whether it is open, as far as can be told from here."""

    @property
    @abstractmethod
    def ending(self) -> str:
        """What is known here of why it ended; empty where that is nothing."""

    @abstractmethod
    def begin(self, line: str, given: str, deadline: float, goes_on: bool = False) -> Conversation:
        """Have the login shell run a line, with ``given`` as its standard input, which may go on after that.

        Raises ConnectionError where the connection is gone, TimeoutError where the host has not taken the line at the
        deadline (monotonic).
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of it."""
