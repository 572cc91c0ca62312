"""What other users of a host see of the host journal in the list of processes: no token, no name of a record."""

import json
import shutil
from pathlib import Path

import pytest
from support.fake_host import EmulatedHost

from lab.base.errors import HostError
from lab.platforms.linux.settings import LinuxMtu
from lab.settings import host_journal
from lab.settings.host_journal import HostJournal, TakenHostJournal
from lab.settings.journal import LineFormat, Record

TOKEN = "5ec7e700"
PROGRAMS = [
    "awk", "cat", "cut", "date", "df", "grep", "id", "ls", "mkdir", "perl", "ps", "rm", "rmdir", "sed", "sh", "sleep",
    "tail", "tr", "uname",
]  # fmt: skip
LINES = LineFormat({kind.kind: kind for kind in (LinuxMtu, TakenHostJournal)})


def noting(folder: Path, programs: dict[str, str]) -> EmulatedHost:
    """A host whose programs note the words that they are started with, and do their work then; a second is short."""
    commands = {name: f'exec {path} "$@"' for name, path in programs.items()}
    return EmulatedHost(folder, commands | {"ip": ":", "sleep": f"exec {shutil.which('sleep')} 0.02"}, [])


@pytest.fixture
def host(tmp_path: Path) -> EmulatedHost:
    return noting(tmp_path, {name: shutil.which(name) or "" for name in PROGRAMS})


def test_no_program_has_the_token_of_a_run_among_its_words(host: EmulatedHost, tmp_path: Path) -> None:
    """From taking it to giving it up, with a timer that is called off and one that is due."""
    folder = tmp_path / "file-share-lab"
    journal = HostJournal(host, TOKEN, {"who": "ann@one", "pid": "1", "since": "now"}, 1, str(folder))
    taken = journal.record(1).operation
    journal.take()
    assert (taken.read().run(host), (folder / "lock").read_text()[:8]) == ("taken", TOKEN)
    records = [Record(number, "client", LinuxMtu("eth0"), "1500", "9000", TOKEN) for number in (2, 3)]
    for record, after_s in zip(records, (9000, 1), strict=True):
        journal.note(record)
        journal.revert_after_s = after_s
        journal.arm(record)
    journal.confirm(records[0])
    assert [record.number for record in host_journal.read(host, LINES, str(folder)).records] == [2, 3]
    while not (folder / f"{TOKEN}-000003.fired").exists():
        host.run("sleep", "1")
    journal.strike(records)
    for step in taken.undo("absent"):
        step.run(host)
    assert not folder.exists()
    assert host.calls("ip") == ["ip link set dev eth0 mtu 1500"]
    assert host.calls("perl")
    assert host.calls("sh", "rmdir")
    assert [call for call in host.calls() if TOKEN in call] == []


def test_what_is_told_to_be_typed_by_hand_gives_the_token_back(host: EmulatedHost, tmp_path: Path) -> None:
    folder = tmp_path / "file-share-lab"
    journal = HostJournal(host, TOKEN, {}, 5, str(folder))
    journal.take()
    (step,) = journal.record(1).undo
    line = step.by_hand()
    assert line.startswith(f"printf '%s\\n' {TOKEN} | sudo /bin/sh -c ")
    host.shell(line.replace("| sudo ", "| "))
    assert not folder.exists()
    assert TOKEN not in json.dumps(step.argv)


@pytest.mark.parametrize(
    "answer",
    [[], ["taken"], ["taken", "b00t 1"], ["taken", "b00t 1", "ane"], ["taken", "b00t 1", "anew", "x"], ["x"] * 3],
)
def test_a_lock_is_believed_only_where_all_of_the_answer_came(
    host: EmulatedHost, answer: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of it would have another start of the host: then a restart would seem to have put everything back."""
    journal = HostJournal(host, TOKEN, {}, 5)
    monkeypatch.setattr(journal, "_try_to_take", lambda: answer)
    with pytest.raises(HostError, match="no lock can be read from what the host printed"):
        journal.take()
    assert journal.boot == ""
