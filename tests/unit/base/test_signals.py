"""Ctrl-C and its like: an exception at once, but never in the middle of putting something back. Signals are real."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from support.memory_host import lab_signals

from lab.base import signals
from lab.base.errors import Interrupted, RestoreError


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    with lab_signals():
        yield


EACH_SIGNAL = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])


def send(number: signal.Signals) -> None:
    """A real signal to this process; its handler has run when this returns or raises."""
    os.kill(os.getpid(), number)
    for _ in range(100):  # a handler runs between two bytecodes of the main thread
        time.sleep(0.001)


@EACH_SIGNAL
def test_a_signal_is_an_exception_that_names_it_and_has_the_exit_code_of_shells(number: signal.Signals) -> None:
    with pytest.raises(Interrupted, match=number.name) as raised:
        send(number)
    assert raised.value.exit_code == 128 + number


@EACH_SIGNAL
def test_held_signals_wait_for_the_end(number: signal.Signals, capfd: pytest.CaptureFixture[str]) -> None:
    done = []
    with pytest.raises(Interrupted, match=number.name) as raised, signals.deferred():  # noqa: PT012
        send(number)
        send(number)  # an impatient person
        done.append("all of it")
    assert raised.value.exit_code == 128 + number
    assert done == ["all of it"]
    assert capfd.readouterr().err.count("putting things back first, please wait") == 2


def test_a_signal_during_a_restore_that_fails_leaves_its_exit_code() -> None:
    assert signals.exit_code() == 0
    with pytest.raises(RestoreError), signals.deferred():  # noqa: PT012
        send(signal.SIGTERM)
        raise RestoreError(["client: it stays"])
    assert signals.exit_code() == 143
    with pytest.raises(Interrupted), signals.deferred():
        pass


def test_nested_holds_end_with_the_outermost_and_the_first_of_two_signals_is_named() -> None:
    done = []
    with pytest.raises(Interrupted), signals.deferred():  # noqa: PT012
        with signals.deferred():
            send(signal.SIGINT)
        done.append("after the inner one")
    assert done == ["after the inner one"]
    with pytest.raises(Interrupted, match="SIGTERM"), signals.deferred():  # noqa: PT012
        send(signal.SIGTERM)
        send(signal.SIGINT)
    with signals.deferred():
        pass


def test_an_error_inside_is_not_hidden_and_no_signal_is_lost_or_held_after_it() -> None:
    with pytest.raises(KeyError), signals.deferred():  # noqa: PT012
        send(signal.SIGINT)
        raise KeyError
    with pytest.raises(Interrupted, match="SIGINT"), signals.deferred():
        pass
    with pytest.raises(KeyError), signals.deferred():
        raise KeyError
    with pytest.raises(Interrupted):
        send(signal.SIGINT)


HUNG_UP = """
import os, signal
from lab.base import signals
from lab.base.errors import Interrupted
signals.install()
reading, writing = os.pipe()
os.dup2(writing, 2)
os.close(reading), os.close(writing)  # whatever is written to standard error now fails, as on a terminal that is gone
try:
    with signals.deferred():
        os.kill(os.getpid(), signal.SIGHUP)
        print("put back", flush=True)
except Interrupted as stopped:
    print(stopped, flush=True)
"""


def test_a_terminal_that_hung_up_does_not_stop_the_putting_back() -> None:
    done = subprocess.run([sys.executable, "-c", HUNG_UP], stdout=subprocess.PIPE, text=True, timeout=20, check=False)
    assert done.stdout.splitlines() == ["put back", "stopped by SIGHUP"]
