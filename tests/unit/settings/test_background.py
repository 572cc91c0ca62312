"""Background processes, for real: proven ready, found again, and ended with their children, however they began."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import pytest
from support.fake_host import EmulatedHost
from support.pairs import OWN_NAME
from support.waiting import wait_until

from lab.base.errors import CommandError, LabFailure
from lab.hosts.command import command
from lab.run.restore.vocabulary import line_format
from lab.settings.background import background_process
from lab.settings.changes import Settings
from lab.settings.journal import Journal, Record
from lab.settings.operation import Setting

pytestmark = pytest.mark.skipif(not (shutil.which("perl") and shutil.which("ps")), reason="needs perl and ps")
REAL = ("sh", "perl", "ps", "awk", "grep", "sed", "cat", "cut", "rm", "tail", "sleep", "touch")
# it and a child of it say who they are; it is ready when a file is there
SERVER = 'echo $$ >> pids; sh -c "echo \\$\\$ >> pids; sleep 60; :" & touch ready; wait'


class Place:
    """A folder where a server may be started."""

    def __init__(self, folder: Path):
        self.host = EmulatedHost(folder, {}, REAL, "server")
        self.folder = folder
        self.settings = Settings({"server": self.host}, Journal(folder / "journal.jsonl", line_format()))

    def server(self, *argv: str, ready: str = "[ -e ready ]") -> Setting:
        return background_process("server", "toy", argv or ("sh", "-c", SERVER), str(self.folder), ready, root=False)

    def pids(self) -> list[str]:
        file = self.folder / "pids"
        return file.read_text().split() if file.exists() else []

    def running(self) -> list[str]:
        """Those of its processes that run; a zombie, whose parent has not looked yet, does not."""
        states = {pid: subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True) for pid in self.pids()}
        return [pid for pid, ps in states.items() if ps.stdout.strip() and b"Z" not in ps.stdout]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    folder = tmp_path / OWN_NAME
    folder.mkdir()
    made = Place(folder)
    yield made
    for pid in made.running():  # only where a test failed
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def identity(server: Setting) -> Path:
    """The file by which the process is found again."""
    return Path(server.read.argv[-1])


def wait_for_both(place: Place) -> None:
    wait_until(lambda: len(place.running()) >= 2)
    assert len(place.running()) == 2


def test_it_is_ready_found_again_and_ended_with_its_children(place: Place) -> None:
    server = place.server()
    with place.settings.scope():
        place.settings.apply(server)
        assert (place.folder / "ready").exists()
        assert server.read.run(place.host) == "running"
        wait_for_both(place)
    assert server.read.run(place.host) == "absent"
    assert place.running() == []
    assert not identity(server).exists()
    # the journal alone ends it, too
    place.settings.apply(place.server())
    wait_for_both(place)
    Settings({"server": place.host}, Journal(place.folder / "journal.jsonl", line_format())).unwind()
    assert place.running() == []


def test_a_stopped_session_of_a_child_of_it_is_ended_too(place: Place) -> None:
    """An sshd has such: they are in no group of its own."""
    text = "import os, time; os.setsid(); open('pids', 'a').write(f'{os.getpid()}\\n'); time.sleep(60)"
    session = shlex.join([sys.executable, "-c", text])
    with place.settings.scope():
        place.settings.apply(place.server("sh", "-c", f"echo $$ >> pids; {session} & touch ready; wait"))
        wait_for_both(place)
        os.kill(int(place.pids()[1]), signal.SIGSTOP)
    wait_until(lambda: place.running() == [])  # whoever is not in the group was sent SIGKILL last


def test_one_that_ends_at_once_or_does_not_exist_is_an_error_that_says_why(place: Place) -> None:
    server = place.server("sh", "-c", "echo port is taken >&2; exit 3")
    with pytest.raises(CommandError, match=r"sh did not become ready:\n.*port is taken"), place.settings.scope():
        place.settings.apply(server)
    assert server.read.run(place.host) == "absent"
    with pytest.raises(CommandError, match="no-such-server: No such file or directory"), place.settings.scope():
        place.settings.apply(place.server("no-such-server"))


def test_one_that_was_cut_short_before_it_was_ready_is_ended_too(place: Place) -> None:
    """Ctrl-C or a lost connection while it starts: nobody waits for it any more, but it runs."""
    with pytest.raises(CommandError):
        place.settings.apply(place.server(ready="kill -s KILL $PPID"))
    wait_for_both(place)
    place.settings.unwind()
    assert place.running() == []


@pytest.mark.parametrize("content", ["{pid}\n1\n", "../proc/{pid}\n1\n", "-{pid}\n1\n", "-1\n1\n", "0\n1\n", "1\n1\n"])
def test_a_process_that_is_not_ours_is_not_ended(place: Place, content: str) -> None:
    server = place.server()
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        try:
            identity(server).write_text(content.format(pid=other.pid))
            for step in server.operation.undo("absent"):
                place.host.run(*step.argv, check=False)
            assert other.poll() is None
        finally:
            other.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_nothing_is_ended_by_a_file_of_another_account(place: Place) -> None:
    """As in the folder of another account, whose records are put back."""
    server = place.server()
    place.settings.apply(server)
    wait_for_both(place)
    os.chown(identity(server), 65534, -1)
    (step,) = server.operation.undo("absent")
    with pytest.raises(CommandError, match="was not written by this account"):
        step.run(place.host)
    assert len(place.running()) == 2
    os.chown(identity(server), 0, -1)
    place.settings.unwind()


@pytest.mark.parametrize("content", ["", "\n", "999999999\n1\n", "12\n", "12", "\n\n", "SELF\n1\n"])
def test_a_file_that_is_torn_or_old_is_no_running_process(place: Place, content: str) -> None:
    """The last one has the number of this very process, with the start of an older one."""
    server = place.server()
    identity(server).write_text(content.replace("SELF", str(os.getpid())))
    assert server.read.run(place.host) == "absent"


def test_a_zombie_that_nobody_waits_for_is_no_process(place: Place) -> None:
    """The first process of a container may never look at what was left to it."""
    server = place.server()
    with subprocess.Popen(["true"], start_new_session=True) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        identity(server).write_text(f"{process.pid}\n1\n")
        assert server.read.run(place.host) == "absent"
        for step in server.operation.undo("absent"):
            step.run(place.host)
        assert not identity(server).exists()


def test_renewed_it_is_another_process_and_the_journal_stays_as_it_is(place: Place) -> None:
    place.settings.apply(place.server())
    wait_for_both(place)
    (first, child), (record,) = place.running(), place.settings.journal.open
    journal = (place.folder / "journal.jsonl").read_text()
    place.settings.renew(record)
    wait_for_both(place)
    assert not {first, child} & set(place.running())
    assert (place.folder / "journal.jsonl").read_text() == journal
    place.settings.unwind()
    assert place.running() == []


def test_with_the_same_rights_for_all_commands_one_renews_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.settings.apply(place.server())
    first, (record,) = place.running(), place.settings.journal.open
    run, undo = Mock(wraps=place.host.run), record.undo
    monkeypatch.setattr(place.host, "run", run)
    monkeypatch.setattr(Record, "undo", property(lambda _: (command("touch", "seen", root=True), *undo)))
    place.settings.renew(record)
    assert run.call_count == 2  # what needs root, and what does not
    place.host.needs_no_sudo = True
    place.settings.renew(record)
    assert run.call_count == 2 + 1
    assert not set(first) & set(place.running())
    place.settings.unwind()


def test_what_does_not_come_up_again_is_an_error_and_is_still_put_back(place: Place) -> None:
    server = place.server("sh", "-c", f"[ ! -e broken ] || exit 1; {SERVER}", ready="[ -e ready ] && [ ! -e broken ]")
    place.settings.apply(server)
    (place.folder / "broken").touch()
    with pytest.raises(LabFailure):
        place.settings.renew(place.settings.journal.open[0])
    place.settings.unwind()
    assert (place.running(), place.settings.journal.open) == ([], [])
