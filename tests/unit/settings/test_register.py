"""The register: what proves that a run is this account's own, and what is refused as none."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.memory_host import LINES
from support.open_runs import hosts_file

from lab.base.errors import BadInput
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.results.run_folder import RunFolder
from lab.settings.journal import Journal, NoSeals, Restored, RunSeals
from lab.settings.register import Register, state_folder

ID = "0123456789abcdef" * 2
RUN = {"sweep_text": 'name = "é"', "seed": 7, "hosts_file": "/a/hosts.ini", "hosts_digest": "d", "instance": None}


@pytest.fixture
def config(tmp_path: Path) -> Hosts:
    return load_hosts(hosts_file(tmp_path / "hosts.ini"))


@pytest.fixture
def entry(config: Hosts, tmp_path: Path) -> Path:
    """The file of an open run in the register."""
    register = Register()
    register.enter(ID, tmp_path / "a/../run", config, 3)
    return register.path / "open" / f"{ID}.json"


def test_nobody_else_may_look_into_it() -> None:
    register = Register()
    assert register.path == Path(os.environ["XDG_STATE_HOME"]) / "file-share-lab"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (register.path, *register.path.iterdir())}
    assert modes == {"file-share-lab": 0o700, "open": 0o700, "key": 0o600}
    assert (register.path / "key").stat().st_size == 32


def test_otherwise_it_is_in_the_home_of_the_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME")
    assert state_folder() == tmp_path / ".local/state/file-share-lab"
    for value in ("", "not/absolute"):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert state_folder() == tmp_path / ".local/state/file-share-lab"
    uid = os.geteuid()  # sudo may leave a home to root that is not root's
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1 if uid else 65534)
    assert not state_folder().is_relative_to(tmp_path)


def link_to(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        *((name, link_to, "it is a link") for name in ("", "open", "key")),
        ("", lambda path: path.chmod(0o755),
         "is open to others (mode 0755): it must be a folder of your own, of mode 0700"),
        ("open", lambda path: path.chmod(0o770), "is open to others (mode 0770)"),
        ("key", lambda path: path.with_name("other name").hardlink_to(path), "has another name too (a hard link)"),
        ("key", fifo, "not an ordinary file"),
        ("key", lambda path: path.chmod(0o640), "is open to others (mode 0640)"),
        ("key", lambda path: path.write_bytes(b"x" * 31), "not a key of 32 bytes"),
        ("key", lambda path: path.write_bytes(b"x" * 10**6), "larger than 64 KiB, which no such file is"),
    ],
)  # fmt: skip
def test_files_that_others_may_have_changed_are_none(name: str, damage: Callable[[Path], None], message: str) -> None:
    damage(Register().path / name)
    with pytest.raises(BadInput) as refused:
        Register()
    assert message in str(refused.value)
    assert str(Path(os.environ["XDG_STATE_HOME"]) / "file-share-lab" / name) in str(refused.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("name", ["", "key", "open"])
def test_what_belongs_to_somebody_else_is_refused(name: str) -> None:
    os.chown(Register().path / name, 65534, -1)
    with pytest.raises(BadInput, match="belongs to user 65534, not to you"):
        Register()


def test_where_it_cannot_be_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(BadInput, match="XDG_STATE_HOME names another place"):
        Register()


@pytest.mark.usefixtures("entry")
def test_a_run_is_open_until_it_has_left(config: Hosts, tmp_path: Path) -> None:
    register = Register()
    assert register.is_open(ID)
    (run,), problems = Register().open_runs()
    assert problems == []
    assert (run.id, run.folder, run.lines) == (ID, str(tmp_path / "run"), 3)
    assert (run.hosts_file, run.hosts_digest) == (str(tmp_path / "hosts.ini"), register.digest(config))
    assert run.hosts == {"client": "mac.example (192.0.2.1)", "server": "nas.example (192.0.2.2)"}
    register.leave(ID)
    register.leave(ID)
    assert Register().open_runs() == ([], [])


@pytest.mark.parametrize(
    ("key", "value"),
    [("folder", "/elsewhere"), ("hosts_file", "/evil.ini"), ("instance", "gone/1"), ("lines", 0), ("seal", "0" * 64),
     ("id", "f" * 32), ("more", 1), ("seal", None)],
)  # fmt: skip
def test_an_entry_that_was_changed_is_none(entry: Path, key: str, value: object) -> None:
    entry.write_text(json.dumps(json.loads(entry.read_text()) | {key: value}))
    runs, (problem,) = Register().open_runs()
    assert runs == []
    assert f"{entry}: not an entry of this register" in problem
    assert "lab restore --hosts FILE" in problem


@pytest.mark.parametrize("content", [b"", b"[]", b"3", b"{}", b"\xff", b'{"seal": 1}', b"[" * 10**4])
def test_an_entry_that_is_none_is_named_and_hides_no_other(entry: Path, content: bytes) -> None:
    other = entry.with_name("x.json")
    other.write_bytes(content)
    other.chmod(0o600)
    runs, (problem,) = Register().open_runs()
    assert [run.id for run in runs] == [ID]
    assert "open/x.json: not an entry" in problem
    entry.rename(entry.with_name(f"{'f' * 32}.json"))  # under the name of another one it is none either
    assert Register().open_runs()[0] == []


@pytest.mark.parametrize("key", [*RUN, "id", "seal"])
def test_run_json_proves_who_began_the_run(key: str) -> None:
    register = Register()
    run = json.loads(json.dumps(register.sign(RUN)))
    assert register.began(run)
    assert register.began(run | {"ended": "whatever comes later"})
    assert not register.began(run | {key: "another"})
    assert not register.began({name: value for name, value in run.items() if name != key} | {key: 5})
    assert not register.began(RUN)


def test_another_accounts_key_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password in the sweep, which is masked, changes nothing."""
    signed = Register().sign(RUN | {"sweep_text": "# //ann:hunter2@nas/Films"})
    assert Register().began(RunFolder.create(tmp_path, "sweep", signed).run)
    run = Register().sign(RUN)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert not Register().began(run)


# --- lines of a journal


def lines_of(count: int, run: str = ID, key: bytes = b"k" * 32) -> list[bytes]:
    seals, lines = RunSeals(key, run), []
    for number in range(count):
        lines.append(seals.seal(b'{"number": %d}' % number))
        seals.accept(lines[-1])
    return lines


def accepted(lines: list[bytes]) -> int:
    """How many lines, from the first, are those that were written there."""
    seals = RunSeals(b"k" * 32, ID)
    for line in lines:
        try:
            seals.accept(line)
        except ValueError:
            break
    return seals.count


def test_lines_are_those_that_were_written_with_seals_of_this_run_and_key() -> None:
    assert accepted(lines_of(5)) == 5
    assert json.loads(lines_of(1)[0]).keys() == {"number", "seal"}
    unsealed = [b'{"number": 0}'], [b'{"number": 0, "seal": "%s"}' % (b"0" * 64)]
    for lines in (lines_of(2, run="f" * 32), lines_of(2, key=b"x" * 32), *unsealed):
        assert accepted(lines) == 0
    assert NoSeals().accept(lines_of(1)[0]) == NoSeals().accept(b'{"number": 0}') == b'{"number": 0}'


@given(st.lists(st.integers(0, 4), max_size=8))
def test_lines_count_in_their_order_and_from_the_first_on_only(order: list[int]) -> None:
    lines = lines_of(5)
    in_place = next((place for place, number in enumerate(order) if number != place), len(order))
    assert accepted([lines[number] for number in order]) == in_place


@given(st.integers(0, 2), st.integers(0, 500), st.integers(1, 255))
def test_a_line_of_which_a_byte_was_changed_is_none(number: int, at: int, by: int) -> None:
    lines = lines_of(3)
    at %= len(lines[number])
    lines[number] = lines[number][:at] + bytes([lines[number][at] ^ by]) + lines[number][at + 1 :]
    assert accepted(lines) == number


def test_a_journal_goes_on_with_its_seals_after_a_line_that_was_torn(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    register = Register()
    for number in (1, 2):
        journal = Journal(path, LINES, register.seals(ID))
        journal._write({"number": number, "event": Restored(number).event})
        path.write_bytes(path.read_bytes() + b'{"number": 3, "ev')
    seals = register.seals(ID)
    Journal(path, LINES, seals)
    assert seals.count == 2
    with pytest.raises(BadInput, match=r"line 1 is not of a journal: its seal is not that of this line of this run"):
        Journal(path, LINES, register.seals("f" * 32))
