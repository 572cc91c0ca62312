"""The lock in a host's journal, from the first connection of a run to the last. On a real sshd."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.noted_file import NAME, Place, line, owned, read
from support.sshd import OVER_BOTH, gone
from support.waiting import wait_until

from lab.base.errors import HostError, HostLost
from lab.settings import host_journal


@OVER_BOTH
def test_what_a_lost_connection_left_running_has_ended_when_the_host_is_taken_again(place: Place) -> None:
    """A command that ends soon is waited for, because it may still change something; other commands are ended."""
    settings = place.claimed()
    host, pids, late = settings.hosts["client"], place.folder / "pids", place.folder / "late"
    with ThreadPoolExecutor(2) as threads:
        script = 'echo $$ >> "$1"; sleep "$2"; touch "$3"'
        commands = [threads.submit(host.shell, script, str(pids), str(s), f"{late}-{s}") for s in (1, 600)]
        wait_until(lambda: pids.exists() and pids.read_text().count("\n") == 2)
        host.reconnect()
        settings.host_journals["client"].take()
        assert all(gone(pid) for pid in pids.read_text().split())
        assert all(isinstance(command.exception(), HostError) for command in commands)
    assert [path.name for path in place.folder.glob("late*")] == ["late-1"]


def test_a_connection_that_is_lost_unnoticed_is_ended_when_the_host_is_taken_again(place: Place) -> None:
    """Its commands run below an sshd, and would go on."""
    settings = place.claimed()
    pid = place.folder / "pid"
    with ThreadPoolExecutor(1) as threads:
        command = threads.submit(settings.hosts["client"].shell, 'echo $$ > "$1"; sleep 600', str(pid))
        wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))
        owned(place.connect(), place.folder).take()
        assert gone(pid.read_text().strip())
        assert isinstance(command.exception(), HostLost)


def test_a_second_run_is_told_whose_the_host_is(place: Place) -> None:
    place.settings().claim("client")
    other = place.settings("two")
    with pytest.raises(HostError, match=r"client: in use by ann@one \(process 4711, since 2026.*`kill [1-9]"):
        other.claim("client")
    other.unwind()
    assert place.left() == [NAME, "knob"]
    assert "in use by ann@one" in str(read(other.hosts["client"], place.folder).in_use)


def test_a_lock_ends_with_the_connection_and_its_records_stay(place: Place) -> None:
    first = place.changed()
    first.hosts["client"].close()
    second = place.settings("two")
    while (contents := read(second.hosts["client"], place.folder)).in_use:
        time.sleep(0.01)  # until sshd has seen it
    assert (contents.in_use, [record.old for record in contents.records]) == (None, ["old"])
    owned(second.hosts["client"], place.folder, "two").take()
    assert (place.folder / NAME / "lock").read_text().startswith("two ")


def test_only_one_of_many_gets_the_lock(place: Place) -> None:
    stale = place.claimed("stale")
    stale.hosts["client"].close()
    hosts = [place.connect() for _ in range(6)]

    def take(number: int) -> str:
        try:
            owned(hosts[number], place.folder, f"run{number}").take()
        except HostError as error:
            return str(error) if "in use by" not in str(error) else ""
        return f"run{number}"

    while read(hosts[0], place.folder).in_use:
        time.sleep(0.01)  # until its session has ended
    with ThreadPoolExecutor(len(hosts)) as threads:
        taken = [run for run in threads.map(take, range(len(hosts))) if run]
    assert len(taken) == 1, taken
    assert (place.folder / NAME / "lock").read_text().split()[0] == taken[0]
    assert [path.name for path in (place.folder / NAME).iterdir()] == ["lock"]


def test_a_host_is_in_use_while_its_run_changes_from_one_connection_to_the_next(place: Place) -> None:
    """Every change of MTU makes a new connection. Meanwhile commands of the old connection are waited for."""
    settings = place.changed()
    other, pid = place.connect(), place.folder / "pid"
    with ThreadPoolExecutor(2) as threads:
        command = threads.submit(settings.hosts["client"].shell, 'echo $$ > "$1"; sleep 2', str(pid))
        wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))
        reached = threads.submit(settings.connections.reach, "client")
        contents = [read(other, place.folder)]
        while not reached.done():
            contents.append(read(other, place.folder))
        assert isinstance(command.exception(), HostLost)
    assert (reached.exception(), [content for content in contents if not content.in_use]) == (None, [])
    settings.unwind()
    assert place.left() == ["knob", "pid"]


def test_a_run_that_begins_while_the_host_is_looked_at_is_seen(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run begins after the look at the lock, and before the look at the records."""
    settings, other = place.settings(), place.connect()
    looked, began = place.folder / "looked", place.folder / "began"
    first_look = "lock=$(look print_lock)\n"
    assert host_journal.READ.count(first_look) == 2
    pause = f"touch {looked}; until [ -e {began} ]; do sleep 0.01; done\n"
    monkeypatch.setattr(host_journal, "READ", host_journal.READ.replace(first_look, first_look + pause, 1))
    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read, other, place.folder)
        wait_until(looked.exists)
        settings.claim("client")
        settings.apply(line(place.file, "new"))
        began.touch()
        contents = reading.result()
    assert "in use by ann@one" in str(contents.in_use)
    assert [record.old for record in contents.records] == ["old"]
    settings.unwind()
