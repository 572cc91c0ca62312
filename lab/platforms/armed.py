"""Transfers of several hosts that start at one instant, although each host has its own clock.

The controller measures the offset of a host's clock over the stopwatch's connection. The host reads its clock between
question and answer, so half of the round trip bounds the error; the shortest of several round trips counts (Cristian,
"Probabilistic clock synchronization", 1989).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from lab.base.errors import TransferError
from lab.base.untrusted import word
from lab.hosts import Result
from lab.hosts.dialogue import Dialogue
from lab.platforms.timing import Timing, field_of, values_of

TOGETHER = "together"  # the START argument of the stopwatch
QUESTIONS = 12  # about the time
END = "end of report\n"
NUMBER = r"-?[0-9]{1,12}\.[0-9]{1,9}"


@dataclass(frozen=True)
class Offset:
    """By how many seconds a host's clock is ahead of our monotonic clock, and the bound of the error."""

    ahead_s: float
    bound_s: float


@dataclass(frozen=True)
class Instants:
    """Start and end of a transfer, flush included, by its host's clock; the clock of the samples may be ahead."""

    started_s: float
    ended_s: float
    samples_ahead_s: float


class Armed:
    """A transfer that is ready to start. ``read`` parses what the stopwatch prints in the end."""

    def __init__(self, dialogue: Dialogue, gone_mark: str, read: Callable[[Result], Timing]):
        self._dialogue, self._gone_mark, self._read = dialogue, gone_mark, read

    def await_ready(self) -> float:
        """Wait until the stopwatch is ready; returns the seconds that it will need to count before the start.

        Raises HostError, and TransferError where the stopwatch cannot begin.
        """
        return self._number("ready")

    def measure_offset(self) -> Offset:
        """How far the host's clock is ahead. Raises HostError, and TransferError where the stopwatch has gone."""
        shots = []
        for _ in range(QUESTIONS):
            asked = time.monotonic()
            self._dialogue.ask("now?")
            host_s = self._number("now")
            answered = time.monotonic()
            shots.append(Offset(host_s - (asked + answered) / 2, (answered - asked) / 2))
        return min(shots, key=lambda shot: shot.bound_s)

    def start_at(self, at_s: float) -> None:
        """Let the transfer start when the host's clock shows ``at_s``. Raises HostError."""
        self._dialogue.ask(f"start {at_s:.6f}")

    def wait(self) -> tuple[Instants, Offset] | None:
        """Wait for the end, and measure the offset again; None if the transfer failed or its server is gone.

        Raises DeadlineExceeded where it is stuck, and HostError.
        """
        text = self._dialogue.hear(lambda text: END in text or bool(self._gone_mark and self._gone_mark in text))
        if END not in text:
            return None
        return self._instants(text), self.measure_offset()

    def _instants(self, text: str) -> Instants:
        """Start and end, from the stopwatch's report."""
        values = values_of(text)
        try:
            return Instants(*(field_of(values, name, _parse_time) for name in ("started", "ended", "samples_ahead")))
        except ValueError as error:
            raise TransferError(f"the stopwatch's report cannot be true: {error}", host=self._dialogue.name) from error

    def timing(self) -> Timing:
        """The counts of the transfer. Raises as :meth:`Clock.time_transfer` does."""
        is_over = END in self._dialogue.conversation.stdout
        return self._read(self._dialogue.finish() if is_over else self._dialogue.stopped())

    def _number(self, name: str) -> float:
        """The number in the next line, which must have this name."""
        line = self._dialogue.next_line()
        try:
            return field_of(values_of(line), name, _parse_time)
        except ValueError as error:
            problem = self._dialogue.conversation.errors.strip() or str(error)
            raise TransferError(f"the stopwatch does not answer: {problem}", host=self._dialogue.name) from error


def _parse_time(value: str) -> float:
    return float(word(value, NUMBER))
