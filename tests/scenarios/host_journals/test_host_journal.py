"""What a host keeps of a run for itself: its records, and what it takes for its own. On a real sshd."""

import json
import os
import time

import pytest
from support.noted_file import LINES, NAME, FileLine, Place, line, owned, read
from support.sshd import OVER_BOTH, Sshd, Wire, wait_for

from lab.base.errors import HostError, RestoreError
from lab.settings.changes import Settings
from lab.settings.journal import Journal


def test_the_old_value_is_on_the_host_before_the_change_and_gone_when_it_is_back(place: Place) -> None:
    settings = place.changed()
    (record,) = read(settings.hosts["client"], place.folder).records
    assert (record.old, record.new, record.run, record.number) == ("old", "new", "one", 2)
    assert record.boot
    settings.unwind()
    assert place.left() == ["knob"]
    assert place.file.read_text() == "old\n"
    assert Journal(place.journal(), LINES).open == []


def test_nothing_is_changed_where_the_host_cannot_note_it(place: Place) -> None:
    settings = place.claimed()
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
    settings = place.claimed()
    (place.folder / NAME / "one-000009").write_text("torn\n")
    with pytest.raises(HostError, match="a record cannot be read"):
        read(settings.hosts["client"], place.folder)


def test_records_are_of_the_host_that_holds_them_whatever_they_say(place: Place) -> None:
    settings = place.changed()
    file = place.folder / NAME / "one-000002"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"host": "server"}) + "\n")
    (record,) = read(settings.hosts["client"], place.folder).records
    assert record.host == "client"


@pytest.mark.parametrize("run", ["../../etc/passwd", "", "a b", "-rf"])
def test_a_record_of_a_run_that_cannot_be_is_not_read(place: Place, run: str) -> None:
    """Its name becomes that of a file on every host that is restored."""
    settings = place.changed()
    file = place.folder / NAME / "one-000002"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"run": run}) + "\n")
    with pytest.raises(HostError, match="a record cannot be read"):
        read(settings.hosts["client"], place.folder)


@pytest.mark.parametrize("volatile", [True, False])
def test_what_a_restart_undid_is_not_written_again(place: Place, volatile: bool) -> None:
    first = place.claimed()
    first.apply(line(place.file, "new", volatile))
    first.hosts["client"].close()
    place.file.write_text("of the new start\n")
    path = place.journal()
    boot = first.host_journals["client"].boot
    path.write_text(path.read_text().replace(boot, "an earlier start"))
    again = place.claimed()
    again.unwind()
    assert place.file.read_text() == ("of the new start\n" if volatile else "old\n")
    assert again.restorer.restarted["client"] == int(volatile)
    assert place.left() == ["knob"]


@OVER_BOTH
def test_a_lost_connection_is_made_again_to_put_things_back(place: Place, sshd: Sshd, wire: Wire) -> None:
    settings = place.changed(port=wire.port)
    wire.cut()
    settings.unwind()
    assert place.left() == ["knob"]
    assert place.file.read_text() == "old\n"


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
    later = place.claimed()
    later.unwind()
    assert place.left() == ["knob"]


def test_a_host_that_is_restored_by_its_own_journal_keeps_nothing_of_it(place: Place) -> None:
    """Whoever restores takes it last of all, and gives it up last of all."""
    first = place.changed()
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


def test_a_timer_takes_back_what_it_was_given_and_not_what_a_file_says(place: Place) -> None:
    """The files beside its record could be somebody else's by the time that it is due."""
    settings = place.changed()
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
