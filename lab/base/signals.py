"""Ctrl-C and termination signals: an exception at once, except while something is being put back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from lab.base.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_held = 0
_waiting: list[int] = []


def install() -> None:
    """Turn the signals that end a program into :class:`Interrupted`, raised in the main thread."""
    for number in SIGNALS:
        signal.signal(number, _on_signal)


def _on_signal(number: int, _: FrameType | None) -> None:
    if _held:
        _waiting.append(number)
        # a terminal that hung up must not stop the putting back; and print() may not be entered twice
        with suppress(OSError):
            os.write(2, b"\nputting things back first, please wait\n")
        return
    raise Interrupted(f"stopped by {signal.Signals(number).name}")


def waiting() -> bool:
    """Whether a signal came while it is held: somebody wants this to end soon."""
    return bool(_waiting)


@contextmanager
def held() -> Iterator[None]:
    """Keep signals waiting: what runs inside is not interrupted half-way; a signal that came is raised after it."""
    global _held
    _held += 1
    try:
        yield
    finally:
        _held -= 1
    if _waiting and not _held:
        number = _waiting[0]
        _waiting.clear()
        raise Interrupted(f"stopped by {signal.Signals(number).name}")
