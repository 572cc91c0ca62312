"""A run that makes a store on an emulated server, and whose controller is killed at each of its commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lab.base.present import present
from lab.hosts.hosts_file import ShareConfig
from lab.platforms import Platform
from lab.platforms.linux.platform import Linux
from lab.run import made_store
from lab.run.made_store import MadeStore
from lab.run.vocabulary import line_format
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from lab.stores import FileSystem
from support.memory_host import Killed
from support.stoppable_host import Stop, StoppableHost

GIB = 1 << 30


class StoreLab:
    """A run's settings on such a host, with a journal on disk, and the store that it makes."""

    platform: type[Platform] = Linux
    share = ShareConfig(serve="lab", account="lab", image_size=GIB)

    def __init__(self, host: StoppableHost, store: FileSystem, levels: Mapping[str, str]):
        self.host, self.store, self.levels = host, store, levels
        self.path = host.folder / "journal.jsonl"
        self.settings = self.begin()

    def begin(self) -> Settings:
        """A process of the lab: the one that runs, or `lab restore` after it."""
        return Settings({"server": self.host}, Journal(self.path, line_format()), patience_s=0)

    def make(self, levels: Mapping[str, str] | None = None) -> MadeStore:
        """Make the store, at these levels of its options or its usual ones."""
        levels = self.levels if levels is None else levels
        steps = made_store.make(self.platform(self.host), self.store, str(self.host.own), self.share, levels)
        return self.settings.follow(steps)

    def make_and_forget(self) -> None:
        """Make it, and have it forget the files that it holds in a memory of its own."""
        present(self.make().forget).run(self.host)


def kill_at_each_command(folder: Path, new_lab: Callable[[Path], StoreLab], act: Callable[[StoreLab], object]) -> None:
    """Each time a new lab acts until it is killed, before or after a command; restoring it leaves nothing behind."""
    left_behind = 0
    for number in range(_count_of_commands(_new(folder / "whole", new_lab), act)):
        for after in (False, True):
            lab = _new(folder / f"{number}-{after}", new_lab)
            lab.host.stop = Stop(number, after)
            with pytest.raises(Killed):
                act(lab)
            lab.host.stop = Stop()
            left_behind += not lab.host.is_left_as_it_was()
            lab.begin().unwind()
            assert lab.host.is_left_as_it_was(), f"killed at command {number}, after it: {after}"
            assert not Journal(lab.path, line_format()).open
    assert left_behind > 8, "and there was something to put back"


def _new(folder: Path, new_lab: Callable[[Path], StoreLab]) -> StoreLab:
    folder.mkdir()
    return new_lab(folder)


def _count_of_commands(lab: StoreLab, act: Callable[[StoreLab], object]) -> int:
    act(lab)
    return lab.host.stop.count
