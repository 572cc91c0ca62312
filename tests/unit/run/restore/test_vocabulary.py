"""The vocabulary of journals: every kind goes through a file and back, and takes nothing that no lab writes."""

import dataclasses
import itertools
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most
from support.fake_host import RecordingHost
from support.input_files import HOSTS
from support.open_runs import RunLab
from support.operations import OLD_VALUES
from support.pairs import OWN
from support.synthetic_runs import trial, write_run

from lab.base.errors import LabFailure
from lab.hosts.command import Command
from lab.platforms.linux.settings import LinuxMtu
from lab.run.restore import put_back
from lab.run.restore.vocabulary import kinds, line_format
from lab.settings.journal import Record
from lab.settings.operation import Operation, parse_operation

EVERY_KIND = pytest.mark.parametrize("operation", OLD_VALUES, ids=lambda operation: operation.kind)
SHELL = ";|&$`\\'\"<>*?()[]{}!#\n\r\0\x1b\u202e "
TEXT = st.text(max_size=20)
HOSTILE = st.builds("".join, st.tuples(TEXT, st.sampled_from([*SHELL, "; id #", "$(id)", "`id`"]), TEXT))
FOREIGN_PATHS = (
    "/", "/etc/passwd", "/tmp", f"{OWN}/../..", f"{OWN}/./x", "tmp/file-share-lab-01234567", f"{OWN}x",
    "/tmp/file-share-lab-0123456", "/tmp/file-share-lab-ABCDEFGH", "~/file-share-lab-01234567", f"{OWN}/\x1b[2J",
    f"{OWN}\n/etc", "/tmp/FILE-SHARE-LAB-01234567",
)  # fmt: skip


def commands(operation: Operation) -> list[Command]:
    return [operation.read(), *operation.undo(OLD_VALUES[operation])]


def test_there_is_an_example_of_every_kind() -> None:
    assert {operation.kind for operation in OLD_VALUES} == set(kinds())


@EVERY_KIND
def test_it_comes_back_from_a_journal_as_it_went_in(operation: Operation) -> None:
    old = OLD_VALUES[operation]
    record = Record(7, "server", operation, old, old, "01234567", "1cfc8153-3710 52231")
    line = json.dumps(record.as_json())
    assert line_format().parse(line) == record
    assert not {"argv", "read", "undo"} & json.loads(line).keys()


@EVERY_KIND
def test_what_reads_and_undoes_needs_no_secret_and_ends(operation: Operation) -> None:
    """The journal has no secrets, so what needed one could never be put back after a crash."""
    for command in commands(operation):
        assert (command.given, 0 < command.deadline_s <= 300) == ("", True)


@EVERY_KIND
@at_most(20)
@given(value=HOSTILE)
def test_an_old_value_that_it_cannot_have_makes_no_command(operation: Operation, value: str) -> None:
    with pytest.raises(LabFailure, match="no value that it can have"):
        operation.undo(value)
    with pytest.raises(LabFailure):
        Record(1, "server", operation, value, OLD_VALUES[operation])


@pytest.mark.parametrize(
    ("kind", "value"),
    [("linux-mtu", "67"), ("linux-mtu", "65536"), ("mac-mtu", "-1"), ("mac-mtu", "99999"), ("nfs-threads", "10000"),
     ("linux-tcp-buffer", "4096"), ("linux-tcp-buffer", "1\t2\t2147483648"), ("linux-tcp-buffer", "1 2 3"),
     ("mac-sysctl", "2147483648"), ("linux-mtu", "1500\n"), ("linux-mtu", "١٥٠٠")],
)  # fmt: skip
def test_a_number_out_of_its_range_makes_no_command(kind: str, value: str) -> None:
    (operation,) = (operation for operation in OLD_VALUES if operation.kind == kind)
    with pytest.raises(LabFailure, match="no value that it can have"):
        operation.undo(value)


def texts_of(operation: Operation) -> list[str]:
    return [field.name for field in dataclasses.fields(operation) if isinstance(getattr(operation, field.name), str)]


def scripts(operation: Operation) -> list[str]:
    """The texts that a shell or perl will run."""
    words = (itertools.pairwise(command.argv) for command in commands(operation))
    return [word for before, word in itertools.chain(*words) if before in ("-c", "-e")]


@EVERY_KIND
@at_most(20)
@given(value=HOSTILE)
def test_a_parameter_is_refused_or_stays_one_word(operation: Operation, value: str) -> None:
    """A path may have odd characters in front of the lab's own folder; what runs is the lab's own text all the same."""
    for name in texts_of(operation):
        for text in (value, f"/{value}/file-share-lab-01234567", f"{getattr(operation, name)}{value}"):
            try:
                changed = dataclasses.replace(operation, **{name: text})
            except LabFailure:
                continue
            assert text.isprintable()
            OLD_VALUES[changed] = OLD_VALUES[operation]
            assert scripts(changed) == scripts(operation)
            del OLD_VALUES[changed]


@EVERY_KIND
def test_a_foreign_path_or_a_value_of_another_type_or_range_is_refused(operation: Operation) -> None:
    texts, beside_a_path = set(texts_of(operation)), {"mount_point", "source"}  # part of a line; what df is to print
    others = {field.name for field in dataclasses.fields(operation)} - texts
    values: list[Any] = [-1, 2**63, 1.5, "1", None, [1], {"a": 1}]
    paths = itertools.product(texts - beside_a_path, FOREIGN_PATHS)
    for name, value in [*paths, *itertools.product(others, values)]:
        with pytest.raises(LabFailure, match="is out of range"):
            dataclasses.replace(operation, **{name: value})


@EVERY_KIND
def test_another_kind_or_key_is_refused(operation: Operation) -> None:
    known, good = kinds(), operation.as_json()
    changes: list[dict[str, Any]] = [{"argv": ["id"]}, {"kind": "sh"}, {"kind": None}, {"undo": []}, {"kind": "Folder"}]
    lacking = [{name: value for name, value in good.items() if name != left_out} for left_out in good]
    for content in [*(good | change for change in changes), *lacking]:
        with pytest.raises(ValueError, match="operation"):
            parse_operation(content, known)


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch, empty_place: None) -> dict[str, RecordingHost]:
    """Two hosts that keep the commands they get."""
    made = {role: RecordingHost(role, ()) for role in ("client", "server")}
    monkeypatch.setattr(put_back, "reached", lambda *_: nullcontext((made, {})))
    return made


UNDO = [{"argv": ["sh", "-c", "id > PWNED"], "root": True, "deadline_s": 30.0}]
PLANTED: dict[str, dict[str, Any]] = {
    "a command line": {"undo": UNDO},
    "an old line with a command": {
        "undo": UNDO, "read": {"argv": ["echo", "9000"], "root": False, "deadline_s": 30.0},
        "name": "MTU of eth0", "volatile": True, "holds": False,
    },
    "a kind that is none": {"operation": {"kind": "shell", "line": "id > PWNED"}},
    "a key that is none": {"operation": {"kind": "linux-mtu", "interface": "eth0", "undo": "id > PWNED"}},
    "a path outside": {"operation": {"kind": "folder", "path": "/etc"}, "old": "absent", "new": "present"},
    "an interface that is a line": {"operation": {"kind": "linux-mtu", "interface": "eth0; id > PWNED"}},
    "an old value that is a line": {"old": "1500; id > PWNED"},
    "a token that is a path": {"run": "../../etc/PWNED"},
    "a key of the line that is none": {"by_hand": "id > PWNED"},
}  # fmt: skip


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_line_reaches_no_host_and_is_named(
    hosts: dict[str, RecordingHost], run_lab: RunLab, planted: str
) -> None:
    Path("hosts.ini").write_text(HOSTS)
    folder = write_run(Path("results"), [trial()], hosts_file="hosts.ini")
    fine = Record(1, "server", LinuxMtu("eth0"), "1500", "9000", "01234567").as_json()
    line = {**fine, **PLANTED[planted], "number": 2}
    if planted == "an old line with a command":
        del line["operation"]
    folder.journal_path.write_text(f"{json.dumps(fine)}\n{json.dumps(line)}\n")
    code, _, err = run_lab("restore")
    assert (code, f"{folder.journal_path}: line 2 is not of a journal" in err) == (1, True)
    assert "id > PWNED" not in err.partition("nothing of it was done")[2]  # no advice to type it
    assert all(host.told == [] for host in hosts.values())


def test_the_advice_by_hand_is_made_by_the_code() -> None:
    problem = Record(1, "server", LinuxMtu("eth0"), "1500", "9000").problem("'9000'")
    assert problem.by_hand == "sudo ip link set dev eth0 mtu 1500"
