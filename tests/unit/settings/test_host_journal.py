"""What a host keeps of a run for itself: its lock, its records, and what it takes for its own. On a real sshd."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.memory_host import no_old_records
from support.sshd import OVER_BOTH, Sshd, Wire, gone, reached_by, wait_for

from lab.base.errors import HostError, HostLost, RestoreError
from lab.hosts import Host, SshHost
from lab.hosts.command import Command, script
from lab.settings import host_journal
from lab.settings.changes import Settings
from lab.settings.host_journal import HostJournal, TakenHostJournal
from lab.settings.journal import Journal, LineFormat
from lab.settings.operation import Operation
from lab.settings.setting import Setting

NAME = "file-share-lab"
Connect = Callable[..., SshHost]


def owned(host: Host, folder: Path, run: str = "one") -> HostJournal:
    owner = {"who": f"ann@{run}", "pid": "4711", "since": "2026-11-21 12:00 UTC"}
    return HostJournal(host, run, owner, 5, str(folder / NAME))


@dataclass(frozen=True)
class FileLine(Operation):
    """The content of a file."""

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
class LastingFileLine(FileLine):
    """One that outlives a restart."""

    kind = "lasting-file"
    volatile = False


KINDS = {kind.kind: kind for kind in (FileLine, LastingFileLine, TakenHostJournal)}
LINES = LineFormat(KINDS, no_old_records)


def read(host: Host, folder: Path) -> host_journal.Contents:
    return host_journal.read(host, LINES, str(folder / NAME))


def line(path: Path, wanted: str, volatile: bool = True) -> Setting:
    """The content of a file as a setting."""
    operation = FileLine(str(path)) if volatile else LastingFileLine(str(path))
    return Setting("client", operation, wanted, operation.change(wanted))


@pytest.fixture(scope="module")
def sshd(one_sshd: Sshd, request: pytest.FixtureRequest) -> Sshd:
    """By paramiko, where a test does not ask for both."""
    return reached_by(request, one_sshd)


class Place:
    """A file on a host, and a run that may change it."""

    def __init__(self, connect: Connect, folder: Path):
        self.connect, self.folder = connect, folder
        self.file = folder / "knob"
        self.file.write_text("old\n")

    def settings(self, run: str = "one", **changes: object) -> Settings:
        host = self.connect(**changes)
        host_journals = {"client": owned(host, self.folder, run)}
        return Settings({"client": host}, Journal(self.journal(run), LINES), host_journals, patience_s=5)

    def journal(self, run: str = "one") -> Path:
        return self.folder / f"{run}.jsonl"

    def left(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.suffix != ".jsonl")


@pytest.fixture
def place(connect: Connect, tmp_path: Path) -> Place:
    return Place(connect, tmp_path)


def test_the_old_value_is_on_the_host_before_the_change_and_gone_when_it_is_back(place: Place) -> None:
    settings = place.settings()
    settings.claim("client")
    settings.apply(line(place.file, "new"))
    (record,) = read(settings.hosts["client"], place.folder).records
    assert (record.old, record.new, record.run, record.number) == ("old", "new", "one", 2)
    assert record.boot
    settings.unwind()
    assert place.left() == ["knob"]
    assert place.file.read_text() == "old\n"
    assert Journal(place.journal(), LINES).open == []


def test_nothing_is_changed_where_the_host_cannot_note_it(place: Place) -> None:
    settings = place.settings()
    settings.claim("client")
    (place.folder / NAME / "one-000002.part").mkdir()
    with pytest.raises(HostError, match=r"file-share-lab: one-000002\.part: Is a directory"):
        settings.apply(line(place.file, "new"))
    assert place.file.read_text() == "old\n"
    (place.folder / NAME / "one-000002.part").rmdir()
    settings.unwind()
    assert place.left() == ["knob"]


@pytest.mark.parametrize("left", [(), ("one.lock",)])
def test_what_a_run_left_that_came_no_further_is_removed(place: Place, left: tuple[str, ...]) -> None:
    settings = place.settings()
    settings.journal.intend(settings.host_journals["client"].record(1))
    (place.folder / NAME).mkdir(0o700)
    for name in left:
        (place.folder / NAME / name).touch()
    settings.unwind()
    assert place.left() == ["knob"]


@OVER_BOTH
def test_what_a_lost_connection_left_running_has_ended_when_the_host_is_taken_again(place: Place) -> None:
    """Waited for where it ends soon, or a change would come about after it was looked for; else ended."""
    settings = place.settings()
    settings.claim("client")
    host, pids, late = settings.hosts["client"], place.folder / "pids", place.folder / "late"
    with ThreadPoolExecutor(2) as threads:
        script = 'echo $$ >> "$1"; sleep "$2"; touch "$3"'
        left = [
            threads.submit(host.shell, script, str(pids), str(seconds), f"{late}-{seconds}") for seconds in (1, 600)
        ]
        wait_for(lambda: pids.exists() and pids.read_text().count("\n") == 2)
        host.reconnect()
        settings.host_journals["client"].take()
        assert all(gone(pid) for pid in pids.read_text().split())
        assert all(isinstance(each.exception(), HostError) for each in left)
    assert [path.name for path in place.folder.glob("late*")] == ["late-1"]


def test_a_connection_that_its_host_does_not_know_to_be_lost_is_ended_when_the_host_is_taken_again(
    place: Place,
) -> None:
    """What it runs has a server above it, and would go on."""
    settings = place.settings()
    settings.claim("client")
    pid = place.folder / "pid"
    with ThreadPoolExecutor(1) as threads:
        left = threads.submit(settings.hosts["client"].shell, 'echo $$ > "$1"; sleep 600', str(pid))
        wait_for(lambda: pid.exists() and pid.read_text().endswith("\n"))
        owned(place.connect(), place.folder).take()
        assert gone(pid.read_text().strip())
        assert isinstance(left.exception(), HostLost)


@OVER_BOTH
def test_a_second_run_is_told_whose_the_host_is(place: Place) -> None:
    place.settings().claim("client")
    other = place.settings("two")
    with pytest.raises(HostError, match=r"client: in use by ann@one \(process 4711, since 2026.*`sudo kill [1-9]"):
        other.claim("client")
    other.unwind()
    assert place.left() == [NAME, "knob"]
    assert "in use by ann@one" in str(read(other.hosts["client"], place.folder).in_use)


@OVER_BOTH
def test_a_lock_ends_with_the_connection_and_its_records_stay(place: Place) -> None:
    first = place.settings()
    first.claim("client")
    first.apply(line(place.file, "new"))
    first.hosts["client"].close()
    second = place.settings("two")
    while (found := read(second.hosts["client"], place.folder)).in_use:
        time.sleep(0.01)  # until sshd has seen it
    assert (found.in_use, [record.old for record in found.records]) == (None, ["old"])
    owned(second.hosts["client"], place.folder, "two").take()
    assert (place.folder / NAME / "lock").read_text().startswith("two ")


def test_only_one_of_many_gets_the_lock(place: Place) -> None:
    stale = place.settings("stale")
    stale.claim("client")
    stale.hosts["client"].close()
    hosts = [place.connect() for _ in range(6)]

    def take(number: int) -> str:
        try:
            owned(hosts[number], place.folder, f"run{number}").take()
        except HostError as error:
            return str(error) if "in use by" not in str(error) else ""
        return f"run{number}"

    while read(hosts[0], place.folder).in_use:
        time.sleep(0.01)  # until its session has ended
    with ThreadPoolExecutor(len(hosts)) as threads:
        taken = [run for run in threads.map(take, range(len(hosts))) if run]
    assert len(taken) == 1, taken
    assert (place.folder / NAME / "lock").read_text().split()[0] == taken[0]
    assert [path.name for path in (place.folder / NAME).iterdir()] == ["lock"]


@pytest.mark.parametrize("what", ["a link", "a file", "another owner"])
def test_a_folder_that_is_not_ours_is_neither_read_nor_written(place: Place, what: str) -> None:
    """It could hold commands that are somebody else's."""
    there = place.folder / NAME
    if what == "a link":
        (place.folder / "elsewhere").mkdir()
        there.symlink_to("elsewhere")
    elif what == "a file":
        there.touch()
    elif os.geteuid() == 0:
        there.mkdir()
        os.chown(there, 65534, 65534)
    else:
        pytest.skip("only root can give a folder away")
    before = sorted(path for path in place.folder.rglob("*") if path.suffix != ".jsonl")
    settings = place.settings()
    with pytest.raises(HostError, match=f"{there} is not the lab's own folder"):
        settings.claim("client")
    with pytest.raises(HostError, match=f"{there} is not the lab's own folder"):
        read(settings.hosts["client"], place.folder)
    settings.unwind()
    assert sorted(path for path in place.folder.rglob("*") if path.suffix != ".jsonl") == before


def test_a_record_that_cannot_be_read_is_not_taken_for_none(place: Place) -> None:
    settings = place.settings()
    settings.claim("client")
    (place.folder / NAME / "one-000009").write_text("torn\n")
    with pytest.raises(HostError, match="a record cannot be read"):
        read(settings.hosts["client"], place.folder)


def test_records_are_of_the_host_that_holds_them_whatever_they_say(place: Place) -> None:
    settings = place.settings()
    settings.claim("client")
    settings.apply(line(place.file, "new"))
    file = place.folder / NAME / "one-000002"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"host": "server"}) + "\n")
    (record,) = read(settings.hosts["client"], place.folder).records
    assert record.host == "client"


@pytest.mark.parametrize("run", ["../../etc/passwd", "", "a b", "-rf"])
def test_a_record_of_a_run_that_cannot_be_is_not_read(place: Place, run: str) -> None:
    """Its name becomes that of a file on every host that is restored."""
    settings = place.settings()
    settings.claim("client")
    settings.apply(line(place.file, "new"))
    file = place.folder / NAME / "one-000002"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"run": run}) + "\n")
    with pytest.raises(HostError, match="a record cannot be read"):
        read(settings.hosts["client"], place.folder)


@pytest.mark.parametrize("volatile", [True, False])
def test_what_a_restart_undid_is_not_written_again(place: Place, volatile: bool) -> None:
    first = place.settings()
    first.claim("client")
    first.apply(line(place.file, "new", volatile))
    first.hosts["client"].close()
    place.file.write_text("of the new start\n")
    path = place.journal()
    boot = first.host_journals["client"].boot
    path.write_text(path.read_text().replace(boot, "an earlier start"))
    again = place.settings()
    again.claim("client")
    again.unwind()
    assert place.file.read_text() == ("of the new start\n" if volatile else "old\n")
    assert again.restorer.restarted["client"] == int(volatile)
    assert place.left() == ["knob"]


@OVER_BOTH
def test_a_lost_connection_is_made_again_to_put_things_back(place: Place, sshd: Sshd, wire: Wire) -> None:
    settings = place.settings(port=wire.port)
    settings.claim("client")
    settings.apply(line(place.file, "new"))
    wire.cut()
    settings.unwind()
    assert place.left() == ["knob"]
    assert place.file.read_text() == "old\n"


@OVER_BOTH
def test_a_host_that_stays_away_is_waited_for_once(place: Place, wire: Wire) -> None:
    settings = place.settings(port=wire.port)
    settings.connections.patience_s = 1
    settings.claim("client")
    settings.apply(line(place.file, "new"))
    wire.close()
    with pytest.raises(RestoreError, match=r"client: file knob should be 'old' and is unknown \(.*cannot be reached"):
        settings.unwind()
    with pytest.raises(HostError, match="cannot be reached"):
        settings.connections.reach("client")
    assert place.file.read_text() == "new\n"
    later = place.settings()
    later.claim("client")
    later.unwind()
    assert place.left() == ["knob"]


def test_a_host_that_is_restored_by_its_own_journal_keeps_nothing_of_it(place: Place) -> None:
    """Whoever restores takes it last of all, and gives it up last of all."""
    first = place.settings()
    first.claim("client")
    first.apply(line(place.file, "new"))
    first.hosts["client"].close()
    host = place.connect()
    while (noted := read(host, place.folder)).in_use:
        time.sleep(0.01)  # until sshd has seen it
    journal = Journal(None, LINES)
    for record in noted.records:
        journal.intend(record)
    later = Settings({"client": host}, journal, {"client": owned(host, place.folder)})
    later.claim("client")
    later.unwind()
    assert place.left() == ["knob"]
    assert place.file.read_text() == "old\n"


@OVER_BOTH
def test_a_timer_takes_back_what_it_was_given_and_not_what_a_file_says(place: Place) -> None:
    """The files beside its record could be somebody else's by the time that it is due."""
    settings = place.settings()
    settings.claim("client")
    settings.apply(line(place.file, "new"))
    host_journal = settings.host_journals["client"]
    host_journal.revert_after_s = 1
    (record,) = (record for record in settings.journal.open if isinstance(record.operation, FileLine))
    host_journal.arm(record)
    planted = f"touch {place.folder}/planted\n"
    for suffix in ("", ".undo", ".armed.undo", ".fired.undo"):
        (place.folder / NAME / f"one-000002{suffix}").write_text(planted)
    wait_for(lambda: place.file.read_text() == "old\n")
    wait_for(lambda: (place.folder / NAME / "one-000002.fired").exists())
    with pytest.raises(HostError, match="too late: this host has taken it back already"):
        host_journal.confirm(record)
    settings.unwind()
    assert place.left() == ["knob"]
    assert not (place.folder / "planted").exists()
