"""A run that makes a store on an emulated server, and whose controller may be killed at each of its commands."""

from collections.abc import Callable, Mapping

from lab.base.present import present
from lab.hosts.hosts_file import ShareConfig
from lab.platforms import Platform
from lab.platforms.linux.platform import Linux
from lab.run.case import made_store
from lab.run.case.made_store import MadeStore
from lab.run.restore.vocabulary import line_format
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from lab.stores import FileSystem
from support.stoppable_host import State, StoppableHost, put_state

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


def kill_at_each_command(lab: StoreLab, act: Callable[[StoreLab], object]) -> None:
    """Whatever a kill leaves before or after any command of a lab that acts, restoring it leaves nothing behind.

    All that a kill leaves is on the host and in the journal: each state of both is put there again, and restored.
    """
    left: list[State] = []
    lab.host.left = left
    act(lab)
    lab.host.left = None
    left_behind = 0
    for number, state in enumerate(left):
        put_state(lab.host.folder, state)
        left_behind += not lab.host.is_left_as_it_was()
        lab.begin().unwind()
        assert lab.host.is_left_as_it_was(), f"killed in state {number} of {len(left)}"
        assert not Journal(lab.path, line_format()).open
    assert left_behind > 2, "and there was something to put back"
