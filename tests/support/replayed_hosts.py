"""Hosts in memory that answer as real hosts did in a recorded run, except for one lie."""

import dataclasses
import hashlib
import itertools
import os
import random
import secrets
import shutil
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from faults import trials

from lab.base.errors import DeadlineExceeded
from lab.cli import main as cli
from lab.hosts import Result, ssh
from lab.hosts.ssh import SshHost
from support.lying_host import LIES, answering

Key = tuple[str, bool, tuple[str, ...]]
Lie = Callable[[str, int, Result], Result]  # host, number of its command (from 1), true result


@dataclass
class Recording:
    """Answers by host, rights and words of a command, in order; and all answers of each host."""

    answers: dict[Key, list[Result]] = field(default_factory=lambda: defaultdict(list))
    all_answers: dict[str, list[Result]] = field(default_factory=lambda: defaultdict(list))
    unknown: list[Key] = field(default_factory=list)


@contextmanager
def recorded() -> Iterator[Recording]:
    recording, lock = Recording(), threading.Lock()

    def answer(host: SshHost, argv: tuple[str, ...], root: bool, go: Callable[[], Result]) -> Result:
        result = go()
        with lock:
            recording.answers[host.name, root, argv].append(result)
            recording.all_answers[host.name].append(result)
        return result

    with answering(answer) as patch:
        _draw_the_same_names(patch)
        yield recording


@contextmanager
def replayed(recording: Recording, lie: Lie) -> Iterator[Counter[str]]:
    """Hosts answer from a recording, except for a ``lie``, and refuse unknown commands; yields their counts."""
    asked: Counter[Key] = Counter()
    number: Counter[str] = Counter()
    lock = threading.Lock()

    def play(host: SshHost, argv: tuple[str, ...], root: bool, _: Callable[[], Result]) -> Result:
        key = host.name, root, argv
        with lock:
            number[host.name] += 1
            mine, answers = number[host.name], recording.answers.get(key)
            answer = answers[min(asked[key], len(answers) - 1)] if answers else Result(argv, 1, "", "", 0.0)
            asked[key] += 1
            recording.unknown += [] if answers else [key]
        return lie(host.name, mine, answer)

    nobody = SimpleNamespace(is_active=True, ending="", close=lambda: None)
    with answering(play) as patch:
        patch.setattr(ssh, "CONNECT", dict.fromkeys(ssh.CONNECT, lambda *_: nobody))
        _draw_the_same_names(patch)
        _let_time_pass(patch)
        yield number


def _draw_the_same_names(patch: pytest.MonkeyPatch) -> None:
    """Draw the same random names in each run, counted by the file that draws them."""
    count: Counter[str] = Counter()

    def token_hex(length: int = 32) -> str:
        drawer = sys._getframe(1).f_code.co_filename
        count[drawer] += 1
        return hashlib.sha256(f"{drawer} {count[drawer]}".encode()).hexdigest()[: 2 * length]

    patch.setattr(secrets, "token_hex", token_hex)


def _let_time_pass(patch: pytest.MonkeyPatch) -> None:
    """Let waiting take no time."""
    slept, running = [0.0], time.monotonic

    def sleep(seconds: float) -> None:
        slept[0] += seconds

    patch.setattr(time, "sleep", sleep)
    patch.setattr(time, "monotonic", lambda: running() + slept[0])
    patch.setattr(os, "fsync", lambda _: None)


KINDS = (*LIES, "another", "endless")
WITHIN_S = 30.0


class OneLie(NamedTuple):
    """Which host lies, at which of its commands (from 1), and how."""

    host: str
    number: int
    kind: str


class Play:
    """A sweep, recorded between honest hosts; runs in the working folder."""

    def __init__(self, *command: str):
        self.command = command
        with recorded() as self.recording:
            assert cli.main(command) == 0
        self.honest = trials.read(self._folder()).rows
        self._remove()

    def again(self, lie: OneLie) -> Iterator[Path]:
        """Run the sweep with a lie; yields the run folder, if there is one, while the hosts are honest again."""
        with replayed(self.recording, lambda *asked: self._answer(lie, *asked)):
            code = cli.main(self.command)
        assert code in (0, 1, 2), lie
        folder = self._folder()
        kept = trials.read(folder)
        assert trials.wrong(kept, kept, self.honest, None) == [], lie
        if folder:
            yield folder
        self._remove()

    def lies(self, is_every_kind: bool) -> Iterator[OneLie]:
        """A lie at each command: one of each kind, or only the next kind in turn."""
        kinds = itertools.cycle(KINDS)
        for host, answers in self.recording.all_answers.items():
            for number in range(1, len(answers) + 1):
                for kind in KINDS if is_every_kind else [next(kinds)]:
                    yield OneLie(host, number, kind)

    def _answer(self, lie: OneLie, host: str, number: int, truth: Result) -> Result:
        if (host, number) != (lie.host, lie.number):
            return truth
        chance = random.Random(str(lie))
        if lie.kind == "endless":
            raise DeadlineExceeded(host, truth.argv, WITHIN_S, "y\n" * 2_000_000)
        if lie.kind == "another":
            return dataclasses.replace(truth, stdout=chance.choice(self.recording.all_answers[host]).stdout)
        return dataclasses.replace(truth, stdout=LIES[lie.kind](truth.stdout, chance))

    @staticmethod
    def _folder() -> Path | None:
        return next((path.parent for path in Path("results").glob("*/run.json")), None)

    @staticmethod
    def _remove() -> None:
        shutil.rmtree("results", ignore_errors=True)
        shutil.rmtree("state", ignore_errors=True)
