"""Journals that an earlier lab left open, on the controller and on both hosts: they are read, and all is put back."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from support.paths import RUN_CAPTURES

from lab.hosts import Host, Result
from lab.settings.changes import Settings
from lab.settings.host_journal import NAME
from lab.settings.journal import Journal, Record, parse

CUT_SHORT = RUN_CAPTURES / "interrupted"


class ObedientHost(Host):
    """Reads every setting at its old value once a command has undone it; fails on commands that no record has."""

    def __init__(self, role: str, records: list[Record]):
        super().__init__(role)
        self.old = {record.read.argv: record for record in records if record.host == role}
        self.undone: list[tuple[str, ...]] = []

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float) -> Result:
        if record := self.old.get(argv):
            undone = all(step.argv in self.undone for step in record.undo)
            return Result(argv, 0, record.old if undone else record.new, "", 0.0)
        assert any(argv == step.argv for record in self.old.values() for step in record.undo), argv
        self.undone.append(argv)
        return Result(argv, 0, "", "", 0.0)

    def reconnect(self) -> None:
        """Nothing was lost."""

    def close(self) -> None:
        """Nothing to let go of."""


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(gzip.decompress((CUT_SHORT / "run" / "journal.jsonl.gz").read_bytes()))
    return Journal(path)


def host_records() -> list[Record]:
    files = [path for path in (CUT_SHORT / "host-journals").rglob("*-*") if path.suffix == "" and path.is_file()]
    records = [parse(path.read_bytes()) for path in sorted(files)]
    assert all(isinstance(record, Record) for record in records)
    return [record for record in records if isinstance(record, Record)]


def test_the_controllers_journal_has_what_the_hosts_have_noted(journal: Journal) -> None:
    noted = {(record.host, record.number): record for record in host_records()}
    assert len(noted) == 15
    mine = {(record.host, record.number): record for record in journal.open if record.name != NAME}
    assert mine == noted


def test_an_old_journal_is_put_back_whole(journal: Journal) -> None:
    records = journal.open
    assert len(records) == 17
    hosts: dict[str, Host] = {role: ObedientHost(role, records) for role in ("client", "server")}
    Settings(hosts, journal).unwind()
    assert journal.open == []
    assert journal.path
    assert Journal(journal.path).open == []
