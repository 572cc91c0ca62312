"""Which process ends because it stands in the lock of a host: the one that was proven to be the run's, and no other."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lab.hosts.perl import run_perl
from lab.hosts.processes import IS_ALIVE, SIGNAL
from lab.settings.host_journal import RELEASE, TAKE
from lab.settings.lease import END, SEIZE

pytestmark = pytest.mark.skipif(not (shutil.which("perl") and shutil.which("ps")), reason="needs perl and ps")
RUN, ME = "0123abcd", str(os.getuid())
Victim = tuple[subprocess.Popen[bytes], str]  # a process, and when it started


def shell(text: str, *args: str, folder: Path, given: str = "", **environment: str) -> str:
    """What a script prints, run in a folder."""
    argv: tuple[str, ...] = ("/bin/sh", "-c", text, "sh", *args)
    surroundings: Mapping[str, str] = os.environ | environment
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
        pytest.param("{pid} {start}0", ME, id="one that started at another time"),
        pytest.param("{pid} {start}", "4242", id="one of another account"),
        pytest.param("{pid} {start}", "-", id="one of nobody's"),
        pytest.param("{pid} {start}", "", id="one without an account"),
        pytest.param("{pid} {start}", None, id="one of an earlier version's lock"),
        pytest.param("{pid} {start}", f"{ME} 4242", id="one of two accounts"),
        pytest.param("../proc/{pid} {start}", ME, id="a path"),
        pytest.param("../../proc/{pid} {start}", ME, id="another path"),
        pytest.param("-{pid} {start}", ME, id="a group"),
        pytest.param("0{pid} {start}", ME, id="a number with a nought"),
        pytest.param("{pid},1 {start}", ME, id="two numbers"),
        pytest.param("99999999999999999999 {start}", ME, id="a number of no process"),
        pytest.param("-1 {start}", ME, id="all"),
        pytest.param("0 {start}", ME, id="nobody"),
        pytest.param("1 {start}", ME, id="the first"),
    ],
)
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
    narrow = shell(SEIZE, folder=tmp_path, given=f"{RUN}\n{process.pid}\n", FILE_SHARE_LAB_ACCOUNT="4242")
    assert narrow == ""
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
        (("TERM", f"{process.pid}"), 1),
        (("TERM", f"{process.pid}", start), 1),
        (("KILL", f"-{process.pid}"), 1),
        (("TERM", f"{nobodys.pid}", f"{start_of_nobodys}0"), 1),
        (("TERM", f"{nobodys.pid}", start_of_nobodys), 0),
    ):
        assert (process.poll(), nobodys.poll()) == (None, None)
        done = subprocess.run(run_perl(SIGNAL, "65534", *words), capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (code, "")
    assert nobodys.wait(60) == -15


@pytest.mark.parametrize("target", ["1", "-1", "0", "-0", "01", "-", "", "1 2", "../2", "2;id"])
def test_a_signal_goes_to_no_number_that_is_not_one_process(target: str) -> None:
    words = run_perl(SIGNAL, ME, "TERM", target)
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode != 0, done.stderr) == (True, f"no process: {target} of {ME}\n")
