"""Locks of hosts: what stands among the words of programs, which answers count, and what a lock ends."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.fake_host import EmulatedHost

from lab.base.errors import HostError
from lab.hosts.command import run_perl
from lab.hosts.processes import IS_ALIVE, SIGNAL
from lab.platforms.linux.settings import LinuxMtu
from lab.settings import host_journal
from lab.settings.host_journal import RELEASE, TAKE, HostJournal, TakenHostJournal
from lab.settings.journal import LineFormat, Record
from lab.settings.lease import END, SEIZE

pytestmark = pytest.mark.skipif(not (shutil.which("perl") and shutil.which("ps")), reason="needs perl and ps")
TOKEN = "5ec7e700"
PROGRAMS = [
    "awk", "cat", "cut", "date", "df", "grep", "id", "ls", "mkdir", "perl", "ps", "rm", "rmdir", "sed", "sh", "sleep",
    "tail", "tr", "uname",
]  # fmt: skip
LINES = LineFormat({kind.kind: kind for kind in (LinuxMtu, TakenHostJournal)})


@pytest.fixture
def host(tmp_path: Path) -> EmulatedHost:
    """A host whose programs note the words that they are started with, and do their work then; a second is short."""
    commands = {name: f'exec {shutil.which(name)} "$@"' for name in PROGRAMS}
    return EmulatedHost(tmp_path, commands | {"ip": ":", "sleep": f"exec {shutil.which('sleep')} 0.02"}, [])


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
    "answer", ["", "taken", "taken\nb00t 1", "taken\nb00t 1\nane", "taken\nb00t 1\nanew\nx", "x\nx\nx"]
)
def test_a_lock_is_believed_by_a_whole_answer(host: EmulatedHost, answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it would have another start of the host: then a restart would seem to have put everything back."""
    journal = HostJournal(host, TOKEN, {}, 5)
    monkeypatch.setattr(journal, "_run", lambda *_, **__: answer)
    with pytest.raises(HostError, match="no lock can be read from what the host printed"):
        journal.take()
    assert journal.boot == ""


RUN, ME = "0123abcd", str(os.getuid())
Victim = tuple[subprocess.Popen[bytes], str]  # a process, and when it started


def shell(text: str, *args: str, folder: Path, given: str = "", **environment: str) -> str:
    """What a script prints, run in a folder."""
    argv, surroundings = ["/bin/sh", "-c", text, "sh", *args], os.environ | environment
    done = subprocess.run(argv, input=given, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Victim]:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        try:
            yield process, shell(IS_ALIVE + 'started "$1"', str(process.pid), folder=tmp_path).strip()
        finally:
            process.kill()


def take(folder: Path, process: str, account: str | None, **environment: str) -> None:
    """Take the host over anew, whose lock says that this process was the run's, and that account's."""
    (folder / "lock").write_text(f"{RUN} {process}\n{{}}\n" + ("" if account is None else f"{account}\n"))
    printed = shell(TAKE, folder=folder, given=f"{RUN}\n{{}}\n", **environment)
    assert printed.splitlines()[0::2] == ["taken", "again"]


def test_the_session_of_before_is_ended(tmp_path: Path, victim: Victim) -> None:
    process, start = victim
    take(tmp_path, f"{process.pid} {start}", ME)
    assert process.wait(60) == -15
    assert (tmp_path / "lock").read_text().splitlines()[1] == "{}"


@pytest.mark.parametrize(
    ("lock", "account"),
    [
        ("{pid} {start}0", ME),  # started at another time
        ("{pid} {start}", "4242"), ("{pid} {start}", f"{ME} 4242"), ("{pid} {start}", "-"), ("{pid} {start}", ""),
        ("{pid} {start}", None),  # an earlier version's lock
        ("../proc/{pid} {start}", ME), ("../../proc/{pid} {start}", ME), ("-{pid} {start}", ME),  # paths, and a group
        ("0{pid} {start}", ME), ("{pid},1 {start}", ME), ("99999999999999999999 {start}", ME),
        ("-1 {start}", ME), ("0 {start}", ME), ("1 {start}", ME),  # all, nobody, the first process
    ],
)  # fmt: skip
def test_nothing_else_that_a_lock_says_is_ended(tmp_path: Path, victim: Victim, lock: str, account: str | None) -> None:
    process, start = victim
    take(tmp_path, lock.format(pid=process.pid, start=start), account)
    assert process.poll() is None


def test_a_narrow_sudo_ends_what_is_its_callers_alone(tmp_path: Path, victim: Victim) -> None:
    process, start = victim
    take(tmp_path, f"{process.pid} {start}", ME, FILE_SHARE_LAB_ACCOUNT="4242")
    assert (tmp_path / "lock").read_text().splitlines()[2] == "-"
    assert process.poll() is None


def test_no_guard_but_a_running_one_of_the_account_seizes_a_host(tmp_path: Path, victim: Victim) -> None:
    process, start = victim
    (tmp_path / "lock").write_text(f"{RUN} {process.pid} {start}\n{{}}\n{ME}\n")
    for guard in ("4194305", "0", f"../{process.pid}"):
        assert shell(SEIZE, folder=tmp_path, given=f"{RUN}\n{guard}\n") == ""
    assert shell(SEIZE, folder=tmp_path, given=f"{RUN}\n{process.pid}\n", FILE_SHARE_LAB_ACCOUNT="4242") == ""
    assert process.poll() is None


def test_a_guard_is_ended_by_its_number_and_its_start(tmp_path: Path, victim: Victim) -> None:
    process, start = victim
    folder = tmp_path / "journal"
    folder.mkdir(mode=0o700)
    for lease in (f"{process.pid} {start}0", f"../proc/{process.pid} {start}", f"-{process.pid} {start}", ""):
        (folder / "lease").write_text(f"{lease}\n")
        (folder / "lock").write_text(f"{RUN} 0 unknown\n{{}}\n-\n")
        (folder / "kept").touch()
        shell(RELEASE, str(folder), folder=tmp_path, given=f"{RUN}\n")
        assert (process.poll(), (folder / "lease").exists()) == (None, False)
    shell(END, str(process.pid), start, folder=tmp_path)
    assert process.wait(60) == -15


@pytest.mark.skipif(ME != "0", reason="only root can become another account")
def test_a_signal_has_the_rights_of_an_account(tmp_path: Path, victim: Victim) -> None:
    """Root, too, sends none to what is not that account's."""
    process, start = victim
    nobodys = subprocess.Popen(["sleep", "600"], user=65534)
    start_of_nobodys = shell(IS_ALIVE + 'started "$1"', str(nobodys.pid), folder=tmp_path).strip()
    for words, code in (
        (("TERM", f"{process.pid}"), 1), (("TERM", f"{process.pid}", start), 1), (("KILL", f"-{process.pid}"), 1),
        (("TERM", f"{nobodys.pid}", f"{start_of_nobodys}0"), 1), (("TERM", f"{nobodys.pid}", start_of_nobodys), 0),
    ):  # fmt: skip
        assert (process.poll(), nobodys.poll()) == (None, None)
        done = subprocess.run(run_perl(SIGNAL, "65534", *words), capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (code, "")
    assert nobodys.wait(60) == -15


@pytest.mark.parametrize("target", ["1", "-1", "0", "-0", "01", "-", "", "1 2", "../2", "2;id"])
def test_a_signal_goes_to_no_number_that_is_not_one_process(target: str) -> None:
    done = subprocess.run(run_perl(SIGNAL, ME, "TERM", target), capture_output=True, text=True, timeout=60)
    assert (done.returncode != 0, done.stderr) == (True, f"no process: {target} of {ME}\n")
