"""A host's journal of a run: its records, and which folder counts as the lab's own. On a real sshd."""

import json
import os
import time
from pathlib import Path

import pytest
from support.noted_file import LINES, NAME, FileLine, Place, line, owned, read
from support.sshd import OVER_BOTH, Sshd, Wire
from support.waiting import wait_until

from lab.base.errors import HostError, RestoreError
from lab.settings.changes import Settings
from lab.settings.journal import Journal


def test_the_old_value_is_on_the_host_before_the_change_and_gone_when_it_is_back(place: Place) -> None:
    settings = place.changed()
    (record,) = read(settings.hosts["client"], place.folder).records
    assert (record.old, record.new, record.run, record.number) == ("old", "new", "one", 2)
    assert record.boot
    place.unwind(settings)
    assert Journal(place.journal(), LINES).open == []


def test_nothing_is_changed_where_the_host_cannot_note_it(place: Place) -> None:
    settings = place.claimed()
    (place.folder / NAME / "one-000002.part").mkdir()
    with pytest.raises(HostError, match=r"file-share-lab: one-000002\.part: Is a directory"):
        settings.apply(line(place.file, "new"))
    assert place.file.read_text() == "old\n"
    (place.folder / NAME / "one-000002.part").rmdir()
    place.unwind(settings)


@pytest.mark.parametrize("files", [(), ("one.lock",)])
def test_what_a_run_left_that_came_no_further_is_removed(place: Place, files: tuple[str, ...]) -> None:
    settings = place.settings()
    settings.journal.intend(settings.host_journals["client"].record(1))
    (place.folder / NAME).mkdir(0o700)
    for name in files:
        (place.folder / NAME / name).touch()
    place.unwind(settings)


@pytest.mark.parametrize("kind", ["a link", "a file", "another owner"])
def test_a_folder_that_is_not_ours_is_neither_read_nor_written(place: Place, kind: str) -> None:
    """The folder could hold commands of somebody else."""
    journal = place.folder / NAME
    if kind == "a link":
        (place.folder / "elsewhere").mkdir()
        journal.symlink_to("elsewhere")
    elif kind == "a file":
        journal.touch()
    elif os.geteuid() == 0:
        journal.mkdir()
        os.chown(journal, 65534, 65534)
    else:
        pytest.skip("only root can give a folder away")

    def paths() -> set[Path]:
        return {path for path in place.folder.rglob("*") if path.suffix != ".jsonl"}

    before, settings = paths(), place.settings()
    for look in (lambda: settings.claim("client"), lambda: read(settings.hosts["client"], place.folder)):
        with pytest.raises(HostError, match=f"{journal} is not the lab's own folder"):
            look()
    settings.unwind()
    assert paths() == before


def test_records_count_for_the_host_that_holds_them_and_unreadable_ones_are_errors(place: Place) -> None:
    """The name of a run becomes the name of a file on every host that is restored."""
    settings = place.changed()
    file = place.folder / NAME / "one-000002"
    record = json.loads(file.read_text())
    file.write_text(json.dumps(record | {"host": "server"}) + "\n")
    assert [record.host for record in read(settings.hosts["client"], place.folder).records] == ["client"]
    bad_runs = ("../../etc/passwd", "", "a b", "-rf")
    for text in ("torn", *(json.dumps(record | {"run": run}) for run in bad_runs)):
        file.write_text(f"{text}\n")
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
    place.unwind(settings)


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
    place.unwind(place.claimed())


def test_a_host_that_is_restored_by_its_own_journal_keeps_nothing_of_it(place: Place) -> None:
    """`lab restore` takes the journal last, and gives it up last."""
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
    place.unwind(later)


def test_a_timer_takes_back_what_it_was_given_and_not_what_a_file_says(place: Place) -> None:
    """When the timer is due, the files beside its record could be somebody else's."""
    settings = place.changed()
    host_journal = settings.host_journals["client"]
    host_journal.revert_after_s = 1
    (record,) = (record for record in settings.journal.open if isinstance(record.operation, FileLine))
    host_journal.arm(record)
    planted = f"touch {place.folder}/planted\n"
    for suffix in ("", ".undo", ".armed.undo", ".fired.undo"):
        (place.folder / NAME / f"one-000002{suffix}").write_text(planted)
    wait_until(lambda: place.file.read_text() == "old\n")
    wait_until(lambda: (place.folder / NAME / "one-000002.fired").exists())
    with pytest.raises(HostError, match="too late: this host has taken it back already"):
        host_journal.confirm(record)
    place.unwind(settings)
