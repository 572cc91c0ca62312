"""The journal: on disk before the change, whole after every crash, and the first to say when it is not."""

import errno
import json
import os
import tempfile
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most
from support.memory_host import BEFORE, LINES, MemoryHost, World, knob, untouched

from lab.base.errors import BadInput, RestoreError
from lab.settings.changes import Settings
from lab.settings.journal import Journal, Record


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_old_value_is_on_disk_before_the_change_is_sent(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    real, synced, values = os.fsync, set(), []

    def fsync(descriptor: int) -> None:
        real(descriptor)
        status = os.fstat(descriptor)
        synced.add((status.st_ino, status.st_size))

    def watch(host: MemoryHost, key: str, value: str) -> None:
        status, content = world.path.stat(), world.path.read_bytes()
        assert (status.st_ino, len(content)) in synced, "the journal was not synced"
        assert world.path.parent.stat().st_ino in {inode for inode, _ in synced}, "its folder was not synced"
        last = json.loads(content.splitlines()[-1])
        assert (last["event"], last["host"], last["old"]) == ("change", host.name, BEFORE[key])
        assert last["operation"] == {"kind": "knob", "key": key}
        values.append(value)

    monkeypatch.setattr(os, "fsync", fsync)
    for host in world.hosts.values():
        host.watch = watch
    world.settings.apply(knob("server", "mtu", "9000"))
    world.settings.apply(knob("client", "space", "65536"))
    assert values == ["nearly 9000", "9000", "nearly 65536", "65536"]


def test_a_change_that_cannot_be_journalled_is_not_made(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.settings.apply(knob("client", "mtu", "9000"))
    content, count = world.path.read_bytes(), world.writes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
        with pytest.raises(OSError, match="No space left"):
            world.settings.apply(knob("client", "space", "1"))
        assert [record.name for record in world.settings.journal.open] == ["knob mtu"]  # nothing else is put back
    assert (world.path.read_bytes(), world.writes()) == (content, count)  # no half line for the next one to spoil
    world.settings.unwind()
    assert Journal(world.path, LINES).open == []


@at_most(40)
@given(st.integers(1, 10**6), st.integers(0, 2))
def test_a_torn_last_line_is_a_change_that_never_began(cut: int, standing: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for key in list(BEFORE)[:standing]:
            world.settings.apply(knob("server", key, "new"))
        whole = world.path.read_bytes() if standing else b""
        journal, operation = world.settings.journal, knob("client", "mount", "new").operation
        journal.intend(Record(journal.next_number(), "client", operation, "absent", "new"))
        line = world.path.read_bytes()[len(whole) :]
        torn = line[: 1 + cut % (len(line) - 2)]
        world.path.write_bytes(whole + torn)
        journal = Journal(world.path, LINES)
        assert len(journal.open) == standing
        assert world.path.read_bytes() == whole
        assert world.path.with_name("journal.torn").read_bytes() == torn + b"\n"
        after = Settings(world.hosts, journal)
        after.apply(knob("client", "mtu", "9000"))
        assert len({record.number for record in Journal(world.path, LINES).open}) == standing + 1
        world.restore()
        assert world.state() == untouched()


def test_a_last_line_without_its_end_counts_unless_it_is_torn(world: World) -> None:
    world.settings.apply(knob("server", "mtu", "9000"))
    whole = world.path.read_bytes()
    world.path.write_bytes(whole[:-1])
    assert len(Journal(world.path, LINES).open) == 1
    assert world.path.read_bytes() == whole
    world.restore()
    assert world.state() == untouched()
    world.settings.apply(knob("server", "mtu", "9000"))
    world.settings.unwind()
    world.path.write_bytes(world.path.read_bytes()[:-5])
    assert len(Journal(world.path, LINES).open) == 1
    world.restore()
    assert world.state() == untouched()
    assert Journal(world.path, LINES).open == []


@pytest.mark.parametrize("line", ["no json", "3", "[]", "{}", '{"number": 1}', '{"number": "x", "event": "restored"}',
                                  '{"number": 1, "event": "change"}', '{"number": 1, "event": "chang"}', "\0\0\0",
                                  '{"number": 1, "event": null}', "[" * 10**5, "\x85\x0c\x1e", ""])  # fmt: skip
@pytest.mark.parametrize("position", [0, 1])
def test_a_line_that_is_none_is_named_and_nothing_is_lost(world: World, line: str, position: int) -> None:
    world.settings.apply(knob("server", "mtu", "9000"))
    lines = world.path.read_bytes().splitlines()
    lines.insert(position, line.encode("latin-1"))
    world.path.write_bytes(b"".join(line + b"\n" for line in lines))
    content = world.path.read_bytes()
    with pytest.raises(BadInput, match=f"journal.jsonl: line {position + 1} is not of a journal"):
        Journal(world.path, LINES)
    assert world.path.read_bytes() == content


def test_an_unused_journal_makes_no_file(tmp_path: Path) -> None:
    Settings({}, Journal(tmp_path / "journal.jsonl", LINES)).unwind()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("old", 1500), ("old", "1500; id"), ("new", "$(id)"), ("host", None), ("host", "Ser ver"), ("number", "1"),
        ("number", 0), ("run", "a/b"), ("boot", "\x1b[2J"), ("argv", ["id"]), ("operation", "knob"),
        ("operation", ["id"]), ("operation", {"kind": "sh", "key": "mtu"}), ("operation", {"kind": ["knob"]}),
        ("operation", {"kind": "knob"}), ("operation", {"kind": "knob", "key": 5}),
        ("operation", {"kind": "knob", "key": "x y"}), ("operation", {"kind": "knob", "key": "mtu", "undo": ["id"]}),
    ],
)  # fmt: skip
def test_a_record_of_other_types_is_none(world: World, key: str, value: object) -> None:
    world.settings.apply(knob("server", "mtu", "9000"))
    world.path.write_text(json.dumps(json.loads(world.path.read_text()) | {key: value}) + "\n")
    with pytest.raises(BadInput, match="line 1 is not of a journal: "):
        Journal(world.path, LINES)
    with pytest.raises(BadInput):
        world.restore()
    assert world.hosts["server"].values["mtu"] == "9000"


def test_a_host_that_is_none_keeps_no_other_from_being_put_back(world: World) -> None:
    for key in ("mtu", "space"):
        world.settings.apply(knob("server", key, "new"))
    world.path.write_text(world.path.read_text().replace("server", "nas", 1))
    with pytest.raises(RestoreError, match="nas: knob mtu: there is no such host"):
        world.restore()
    assert world.hosts["server"].values["space"] == BEFORE["space"]


def test_a_journal_that_cannot_be_read_or_has_a_change_twice_is_refused(world: World) -> None:
    world.settings.apply(knob("server", "mtu", "9000"))
    world.path.write_bytes(world.path.read_bytes() * 2)
    with pytest.raises(BadInput, match="line 2 is not of a journal: change 1 stands in it twice"):
        Journal(world.path, LINES)
    world.path.unlink()
    world.path.mkdir()
    with pytest.raises(BadInput, match=r"journal\.jsonl: cannot be read"):
        Journal(world.path, LINES)
