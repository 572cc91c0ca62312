"""A sweep whose hosts are replayed, again and again: each time one of them lies once, at the next of its commands."""

import dataclasses
import itertools
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from faults import trials

from lab.base.errors import DeadlineExceeded
from lab.cli import main as cli
from lab.hosts import Result
from support.lying_host import LIES
from support.replayed_hosts import recorded, replayed

KINDS = (*LIES, "another", "endless")
WITHIN_S = 30.0


class OneLie(NamedTuple):
    """Which host lies, at which of its commands, counted from 1, and how."""

    host: str
    number: int
    kind: str


class Play:
    """The sweep, as it was recorded between honest hosts; run in the working folder."""

    def __init__(self, *command: str):
        self.command = command
        with recorded() as self.recording:
            assert cli.main(command) == 0
        self.honest = trials.read(self._folder()).rows
        self._remove()

    def again(self, lie: OneLie) -> Iterator[Path]:
        """Run it with a lie: yields the folder of the run, where there is one, with the hosts as honest as before."""
        with replayed(self.recording, lambda *asked: self._answer(lie, *asked)):
            code = cli.main(self.command)
        assert code in (0, 1, 2), lie
        folder = self._folder()
        kept = trials.read(folder)
        assert trials.wrong(kept, kept, self.honest, None) == [], lie
        if folder:
            yield folder
        self._remove()

    def lies(self, kinds: Callable[[int], tuple[str, ...]]) -> Iterator[OneLie]:
        """A lie of each of these kinds at each command; ``kinds`` is asked with a count of the commands."""
        count = itertools.count()
        for host, answers in self.recording.of_host.items():
            for number in range(1, len(answers) + 1):
                yield from (OneLie(host, number, kind) for kind in kinds(next(count)))

    def _answer(self, lie: OneLie, host: str, number: int, truth: Result) -> Result:
        if (host, number) != (lie.host, lie.number):
            return truth
        chance = random.Random(str(lie))
        if lie.kind == "endless":
            raise DeadlineExceeded(host, truth.argv, WITHIN_S, "y\n" * 2_000_000)
        if lie.kind == "another":
            return dataclasses.replace(truth, stdout=chance.choice(self.recording.of_host[host]).stdout)
        return dataclasses.replace(truth, stdout=LIES[lie.kind](truth.stdout, chance))

    @staticmethod
    def _folder() -> Path | None:
        return next((path.parent for path in Path("results").glob("*/run.json")), None)

    @staticmethod
    def _remove() -> None:
        shutil.rmtree("results", ignore_errors=True)
        shutil.rmtree("state", ignore_errors=True)


def in_turn(count: int) -> tuple[str, ...]:
    """Of the kinds the next one, command by command."""
    return (KINDS[count % len(KINDS)],)


def all_kinds(_: int) -> tuple[str, ...]:
    """Each kind at each command."""
    return KINDS
