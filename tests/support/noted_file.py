"""A file on a host, and runs that change it, for tests of a host's own journal and lock."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.hosts import Host
from lab.hosts.command import Command, script
from lab.hosts.ssh import SshHost
from lab.settings import host_journal
from lab.settings.changes import Settings
from lab.settings.host_journal import HostJournal, TakenHostJournal
from lab.settings.journal import Journal, LineFormat
from lab.settings.lease import LeasedHostJournal
from lab.settings.operation import Operation, Setting
from support.sshd import Sshd, reached_by

NAME = "file-share-lab"
Connect = Callable[..., SshHost]


def owned(host: Host, folder: Path, run: str = "one", lease_s: float | None = None) -> HostJournal:
    owner = {"who": f"ann@{run}", "pid": "4711", "since": "2026-11-21 12:00 UTC"}
    if lease_s is None:
        return HostJournal(host, run, owner, 5, str(folder / NAME))
    return LeasedHostJournal(host, run, owner, 5, str(folder / NAME), lease_s=lease_s)


@dataclass(frozen=True)
class FileLine(Operation):
    kind = "file"
    values = "[a-z ]{1,20}"

    path: str

    @property
    def label(self) -> str:
        return f"file {self.path.rpartition('/')[2]}"

    def read(self) -> Command:
        return script('cat "$1"', self.path)

    def change(self, value: str) -> tuple[Command, ...]:
        return (script('echo "$2" > "$1"', self.path, value),)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return self.change(old)


@dataclass(frozen=True)
class StuckFileLine(FileLine):
    """A file that cannot be restored while ``PATH.held`` exists."""

    kind = "stuck-file"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script('[ -e "$1.held" ] || echo "$2" > "$1"', self.path, old),)


@dataclass(frozen=True)
class HoldingFileLine(FileLine):
    """A file that later changes need."""

    kind = "holding-file"
    holds = True


@dataclass(frozen=True)
class LastingFileLine(FileLine):
    """A file that outlives a restart."""

    kind = "lasting-file"
    volatile = False


KINDS = {kind.kind: kind for kind in (FileLine, HoldingFileLine, LastingFileLine, StuckFileLine, TakenHostJournal)}
LINES = LineFormat(KINDS)


def read(host: Host, folder: Path) -> host_journal.Contents:
    return host_journal.read(host, LINES, str(folder / NAME))


def line(path: Path, wanted: str, volatile: bool = True, kind: type[FileLine] = FileLine) -> Setting:
    operation = kind(str(path)) if volatile else LastingFileLine(str(path))
    return Setting("client", operation, wanted, operation.change(wanted))


class Place:
    """A file on a host, and runs that may change it."""

    def __init__(self, connect: Connect, folder: Path):
        self.connect, self.folder = connect, folder
        self.file = folder / "knob"
        self.file.write_text("old\n")

    def settings(self, run: str = "one", lease_s: float | None = None, **changes: object) -> Settings:
        host = self.connect(**changes)
        host_journals = {"client": owned(host, self.folder, run, lease_s)}
        return Settings({"client": host}, Journal(self.journal(run), LINES), host_journals, patience_s=5)

    def claimed(self, run: str = "one", lease_s: float | None = None, **changes: object) -> Settings:
        """The settings of a run that has claimed the host."""
        settings = self.settings(run, lease_s, **changes)
        settings.claim("client")
        return settings

    def changed(self, run: str = "one", lease_s: float | None = None, **changes: object) -> Settings:
        """The settings of a run that has also changed the file."""
        settings = self.claimed(run, lease_s, **changes)
        settings.apply(line(self.file, "new"))
        return settings

    def journal(self, run: str = "one") -> Path:
        return self.folder / f"{run}.jsonl"

    def left(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.suffix != ".jsonl")

    def check_restored(self) -> None:
        assert (self.left(), self.file.read_text()) == (["knob"], "old\n")

    def unwind(self, settings: Settings) -> None:
        """Restore what a run changed, and see all as it was before."""
        settings.unwind()
        self.check_restored()


@pytest.fixture(scope="module")
def sshd(one_sshd: Sshd, request: pytest.FixtureRequest) -> Sshd:
    return reached_by(request, one_sshd)


@pytest.fixture
def place(connect: Connect, tmp_path: Path) -> Place:
    return Place(connect, tmp_path)
