"""Hosts in memory that answer as real ones did in a run that was recorded: a run between them takes a moment."""

import hashlib
import os
import secrets
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from lab.hosts import Result, ssh
from lab.hosts.ssh import SshHost

Key = tuple[str, bool, tuple[str, ...]]
Lie = Callable[[str, int, Result], Result]  # what a host says instead, at which of its commands (from 1), and the truth


@dataclass
class Recording:
    """What hosts answered: by host, rights and words of a command, in this order; and all answers of each host."""

    answers: dict[Key, list[Result]] = field(default_factory=lambda: defaultdict(list))
    of_host: dict[str, list[Result]] = field(default_factory=lambda: defaultdict(list))
    unknown: list[Key] = field(default_factory=list)


@contextmanager
def recorded() -> Iterator[Recording]:
    """Write down what hosts answer meanwhile."""
    recording, honest, lock = Recording(), SshHost._execute, threading.Lock()

    def execute(
        host: SshHost, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = ""
    ) -> Result:
        result = honest(host, argv, root, given, deadline_s, stop_mark)
        with lock:
            recording.answers[host.name, root, argv].append(result)
            recording.of_host[host.name].append(result)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SshHost, "_execute", execute)
        _draw_the_same_names(patch)
        yield recording


@contextmanager
def replayed(recording: Recording, lie: Lie) -> Iterator[Counter[str]]:
    """Hosts that answer by it, but for a ``lie``; yields how many commands each got. What nobody knows is refused."""
    asked: Counter[Key] = Counter()
    number: Counter[str] = Counter()
    lock = threading.Lock()

    def execute(
        host: SshHost, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = ""
    ) -> Result:
        key = host.name, root, argv
        with lock:
            number[host.name] += 1
            mine, answers = number[host.name], recording.answers.get(key)
            answer = answers[min(asked[key], len(answers) - 1)] if answers else Result(argv, 1, "", "", 0.0)
            asked[key] += 1
            recording.unknown += [] if answers else [key]
        return lie(host.name, mine, answer)

    nobody = SimpleNamespace(is_active=True, ending="", close=lambda: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SshHost, "_execute", execute)
        patch.setattr(ssh, "CONNECT", dict.fromkeys(ssh.CONNECT, lambda *_: nobody))
        _draw_the_same_names(patch)
        _let_time_pass(patch)
        yield number


def _draw_the_same_names(patch: pytest.MonkeyPatch) -> None:
    """Random in a run, and the same in each here, though other files draw more of them one time than another."""
    count: Counter[str] = Counter()

    def token_hex(length: int = 32) -> str:
        drawer = sys._getframe(1).f_code.co_filename
        count[drawer] += 1
        return hashlib.sha256(f"{drawer} {count[drawer]}".encode()).hexdigest()[: 2 * length]

    patch.setattr(secrets, "token_hex", token_hex)


def _let_time_pass(patch: pytest.MonkeyPatch) -> None:
    """Who waits is not held up."""
    slept, running = [0.0], time.monotonic

    def sleep(seconds: float) -> None:
        slept[0] += seconds

    patch.setattr(time, "sleep", sleep)
    patch.setattr(time, "monotonic", lambda: running() + slept[0])
    patch.setattr(os, "fsync", lambda _: None)
