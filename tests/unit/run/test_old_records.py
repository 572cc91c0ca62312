"""Journals of a lab that wrote commands into them, the controller's and the hosts': read as operations, or refused.

Kept in ``tests/captures/journals``: of runs that were ended by ``kill -9``, on two Linux hosts and on two emulated
Macs, of all protocols; and lines of servers in a kernel.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.operations import OLD_VALUES
from support.paths import JOURNAL_CAPTURES, RUN_CAPTURES

from lab.base.errors import BadInput
from lab.hosts import Host, Result
from lab.run.vocabulary import line_format
from lab.settings.changes import Settings
from lab.settings.host_journal import NAME
from lab.settings.journal import Journal, Record

INTERRUPTED = RUN_CAPTURES / "interrupted"
CUT_SHORT = {
    "interrupted": (INTERRUPTED / "run" / "journal.jsonl.gz", INTERRUPTED / "host-journals", 17),
    "linux": (JOURNAL_CAPTURES / "linux" / "journal.jsonl.gz", JOURNAL_CAPTURES / "linux" / "host-journals", 20),
    "macs": (JOURNAL_CAPTURES / "macs" / "journal.jsonl.gz", JOURNAL_CAPTURES / "macs" / "host-journals", 23),
}
Change = Callable[[dict[str, Any]], None]


def text_of(path: Path) -> str:
    return (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()


def old_lines() -> list[str]:
    """Every change in the journals that are kept."""
    files = [*RUN_CAPTURES.glob("*/run/journal.jsonl.gz"), *JOURNAL_CAPTURES.rglob("*.jsonl*")]
    lines = [line for file in files for line in text_of(file).splitlines()]
    return [line for line in lines if json.loads(line)["event"] == "change"]


class ObedientHost(Host):
    """Reads every setting at its old value once a command has undone it; fails on commands that no record has."""

    def __init__(self, role: str, records: list[Record]):
        super().__init__(role)
        self.old = {record.read.argv: record for record in records if record.host == role}
        self.undone: list[tuple[str, ...]] = []

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        if (record := self.old.get(argv)) and argv not in [step.argv for step in record.undo]:
            undone = all(step.argv in self.undone for step in record.undo)
            return Result(argv, 0, record.old if undone else record.new, "", 0.0)
        assert any(argv == step.argv for record in self.old.values() for step in record.undo), argv
        self.undone.append(argv)
        return Result(argv, 0, "", "", 0.0)

    def reconnect(self, take_over: Callable[[], None] = lambda: None) -> None:
        """Nothing was lost."""
        take_over()

    def close(self) -> None:
        """Nothing to let go of."""


def journal_of(name: str, folder: Path) -> Journal:
    path = folder / "journal.jsonl"
    path.write_text(text_of(CUT_SHORT[name][0]))
    return Journal(path, line_format())


def host_records(folder: Path) -> list[Record]:
    files = [path for path in folder.rglob("*-*") if path.suffix == "" and path.is_file()]
    records = [line_format().parse(path.read_text()) for path in sorted(files)]
    assert all(isinstance(record, Record) for record in records)
    return [record for record in records if isinstance(record, Record)]


@pytest.mark.parametrize("name", CUT_SHORT)
def test_the_controllers_journal_has_what_the_hosts_have_noted(name: str, tmp_path: Path) -> None:
    noted = {(record.host, record.number): record for record in host_records(CUT_SHORT[name][1])}
    journal = journal_of(name, tmp_path)
    mine = {(record.host, record.number): record for record in journal.open if record.name != NAME}
    assert len(mine) == CUT_SHORT[name][2] - 2
    assert mine.items() >= noted.items()
    later = {number for _, number in mine.keys() - noted.keys()}  # killed before the host had noted it
    assert later <= {max(number for _, number in mine)}


@pytest.mark.parametrize("name", CUT_SHORT)
def test_an_old_journal_is_put_back_whole(name: str, tmp_path: Path) -> None:
    journal = journal_of(name, tmp_path)
    records = journal.open
    assert len(records) == CUT_SHORT[name][2]
    hosts: dict[str, Host] = {role: ObedientHost(role, records) for role in ("client", "server")}
    Settings(hosts, journal).unwind()
    assert journal.open == []
    assert journal.path
    assert Journal(journal.path, line_format()).open == []


def test_every_old_change_becomes_the_operation_that_it_was() -> None:
    """And stays it: as it is written now, it is read as the same."""
    kinds = set()
    for line in old_lines():
        old, record = json.loads(line), line_format().parse(line)
        assert isinstance(record, Record)
        assert (record.name, record.old, record.new) == (old["name"], old["old"], old["new"])
        by_root = sum(step["root"] for step in old["undo"])
        # which unmounted GVfs, too, by its path
        assert sum(step.root for step in record.undo) == (0 if record.operation.kind == "gvfs-fuse" else by_root)
        assert line_format().parse(json.dumps(record.as_json())) == record
        kinds.add(record.operation.kind)
    newer = {"mac-service-switch", "share-folder", "image-file", "image-mount", "loop-module"}
    newer |= {"loop-disks", "vdev-files", "zfs-module", "zpool", "zpool-on-disks"}
    newer |= {"disk-image", "attached-image", "image-volume", "named-device", "device-node", "device-mount"}
    newer |= {"mac-zpool"}
    assert kinds == {operation.kind for operation in OLD_VALUES} - newer


def test_no_text_of_an_old_script_is_kept() -> None:
    for line in old_lines():
        old = json.loads(line)
        for step in (old["read"], *old["undo"]):
            step["argv"] = [f"{word} # PWNED" if "\n" in word or " " in word else word for word in step["argv"]]
        try:
            record = line_format().parse(json.dumps(old))
        except ValueError:
            continue
        assert isinstance(record, Record)
        assert "PWNED" not in json.dumps(record.as_json())
        assert "PWNED" not in str([record.read, record.undo])


def line_of(name: str) -> dict[str, Any]:
    """An old change of this name."""
    return next(old for old in map(json.loads, old_lines()) if old["name"].startswith(name))


def undo(number: int, word: int, text: str) -> Change:
    def change(old: dict[str, Any]) -> None:
        old["undo"][number]["argv"][word] = text

    return change


def both(word: str, other: str) -> Change:
    """The same text in place of another one wherever it stands."""

    def change(old: dict[str, Any]) -> None:
        old |= json.loads(json.dumps(old).replace(word, other))

    return change


REFUSED: dict[str, tuple[str, Change]] = {
    "another command": ("MTU of eth0", lambda old: old.update(undo=[old["undo"][0] | {"argv": ["sh", "-c", "id"]}])),
    "one more command": ("MTU of eth0", lambda old: old["undo"].append(old["undo"][0])),
    "no command": ("MTU of eth0", lambda old: old.update(undo=[])),
    "another program": ("MTU of eth0", undo(0, 0, "ifconfig")),
    "another interface": ("MTU of eth0", undo(0, 4, "eth1")),
    "another value": ("MTU of eth0", undo(0, 6, "1400")),
    "a value that is a line": ("MTU of eth0", both("1500", "1500; id")),
    "an interface that is a line": ("MTU of eth0", both("eth0", "eth0; id")),
    "a path for an interface": ("MTU of eth0", both("eth0", "../../x")),
    "another name": ("MTU of eth0", lambda old: old.update(name="nothing")),
    "no rights": ("MTU of eth0", lambda old: old["undo"][0].update(root=False)),
    "more rights": ("MTU of eth0", lambda old: old["read"].update(root=True)),
    "standard input": ("MTU of eth0", lambda old: old["undo"][0].update(given="id")),
    "a key more": ("MTU of eth0", lambda old: old.update(operation={"kind": "ksmbd"})),
    "a key less": ("MTU of eth0", lambda old: old.pop("boot")),
    "words that are a text": ("MTU of eth0", lambda old: old["read"].update(argv="id")),
    "a read that is none": ("MTU of eth0", lambda old: old.update(read=[])),
    "an undo that is none": ("MTU of eth0", lambda old: old.update(undo={"argv": []})),
    "a name that is none": ("MTU of eth0", lambda old: old.update(name=5)),
    "that it holds": ("MTU of eth0", lambda old: old.update(holds=True)),
    "a folder of others": ("folder /tmp", both("/tmp/file-share-lab-", "/etc/")),
    "the folder above": ("folder /tmp", lambda old: both(f"/file-share-lab-{old['run']}", "")(old)),
    "a folder of another run": ("folder /tmp", lambda old: both(f"lab-{old['run']}", "lab-00000000")(old)),
    "a token with letters": ("folder /tmp", lambda old: both(old["run"], "zzzzzzzz")(old)),
    "a way out": ("folder /tmp", both("/tmp/file-share-lab-", "/tmp/../file-share-lab-")),
    "another place of the host journal": ("the lab's ledger", both("/var/tmp/file-share-lab", "/etc/file-share-lab")),
    "another sysctl": ("net.ipv4.tcp_rmem", both("tcp_rmem", "ip_forward")),
    "another file of exports": ("export ", both("/etc/exports", "/etc/passwd")),
    "another service": ("service com.apple.smbd", both("com.apple.smbd", "com.apple.sshd")),
    "another share point": ("share point", both("-afp", "-home")),
    "another file for a process": ("process smbd", both("/smb/smbd.process", "/../../etc/smbd.process")),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_no_lab_wrote_is_refused_by_its_place(what: str, tmp_path: Path) -> None:
    name, change = REFUSED[what]
    old = line_of(name)
    assert line_format().parse(json.dumps(old))
    change(old)
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps(old) + "\n")
    with pytest.raises(BadInput, match=r"journal\.jsonl: line 1 is not of a journal: .*nothing of it was done"):
        Journal(path, line_format())
