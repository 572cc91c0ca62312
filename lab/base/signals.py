"""Turns Ctrl-C and termination signals into an exception, which a restore defers to its end."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from lab.base.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_depth = 0  # of nested :func:`deferred`
_pending: list[int] = []


def install() -> None:
    """Turn the signals that end a program into :class:`Interrupted`, raised in the main thread."""
    for number in SIGNALS:
        signal.signal(number, _on_signal)


def _on_signal(number: int, _: FrameType | None) -> None:
    if _depth:
        _pending.append(number)
        # a closed terminal must not stop the restore; and print() is not reentrant
        with suppress(OSError):
            os.write(2, b"\nputting things back first, please wait\n")
        return
    raise _interruption(number)


def _interruption(number: int) -> Interrupted:
    name = "Ctrl-C (SIGINT)" if number == signal.SIGINT else signal.Signals(number).name
    return Interrupted(f"stopped by {name}", number)


def is_pending() -> bool:
    """Whether a deferred signal waits."""
    return bool(_pending)


def exit_code() -> int:
    """The exit code of a program that the deferred signal ends; 0 if none waits."""
    return _interruption(_pending[0]).exit_code if _pending else 0


@contextmanager
def deferred() -> Iterator[None]:
    """Defer signals until the end of the outermost context. Signals interrupt only the main thread."""
    global _depth
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
    if _pending and not _depth:
        number = _pending[0]
        _pending.clear()
        raise _interruption(number)
