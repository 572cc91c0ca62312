"""A host that hears nothing of its run any more restores what the run changed. On a real sshd."""

import os
import signal
import tempfile
from pathlib import Path

import pytest
from support.changed_scripts import changed
from support.noted_file import LINES, NAME, HoldingFileLine, Place, StuckFileLine, line, read
from support.sshd import gone
from support.waiting import wait_until

from lab.base.errors import HostError
from lab.settings import lease
from lab.settings.changes import Settings
from lab.settings.journal import Journal

LONG_S = 600.0
NOBODY = 65534


def change_guard(patch: pytest.MonkeyPatch, *replacements: tuple[str, str]) -> None:
    """Replace parts of the guard's script."""
    patch.setattr(lease, "GUARD", changed(lease.GUARD, *replacements))


@pytest.fixture
def silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose existence ends leases at once: until then a slow machine is not taken for dead."""
    over = tmp_path.with_name(f"{tmp_path.name}-over")
    silent = ("$silent_s += $tick_s }", f"$silent_s += -e '{over}' ? $lease_s : 0 }}")
    change_guard(monkeypatch, silent, ("= (5, 4, 15,", "= (0.1, 2, 0,"))
    return over


def twice_changed(place: Place, name: str = "one") -> Settings:
    settings = place.changed(name, LONG_S)
    settings.apply(line(place.file, "newer"))
    return settings


def guard(place: Place) -> str:
    return (place.folder / NAME / "lease").read_text().split()[0]


def end_lease(place: Place, silence: Path) -> None:
    """End the lease, and wait until the guard has ended."""
    pid = guard(place)
    silence.touch()
    assert gone(pid)


def fall_silent(settings: Settings, place: Place, silence: Path) -> None:
    """End the run's connection, and the lease."""
    settings.hosts["client"].close()
    end_lease(place, silence)


def claimed(place: Place) -> Settings:
    return place.claimed(lease_s=LONG_S)


@pytest.mark.parametrize("sshd", ["paramiko", "openssh"], indirect=True)
def test_a_host_restores_what_a_silent_run_changed_and_nothing_stays(place: Place, silence: Path) -> None:
    settings = twice_changed(place)
    fall_silent(settings, place, silence)
    place.check_restored()
    later = claimed(place)
    assert later.host_journals["client"].lapsed
    place.unwind(later)
    assert Journal(place.journal(), LINES).open == []


def test_the_guard_ends_with_its_run_and_the_next_run_has_one_of_its_own(place: Place) -> None:
    first = twice_changed(place)
    pid = guard(place)
    place.unwind(first)
    assert gone(pid)
    second = twice_changed(place, "two")
    assert guard(place) != pid
    place.unwind(second)


def test_a_controller_that_comes_back_late_does_not_use_settings_that_are_gone(place: Place, silence: Path) -> None:
    """The controller was away, or stopped, for longer than the lease: the guard has ended its connection."""
    settings = twice_changed(place)
    end_lease(place, silence)
    with pytest.raises(HostError):
        settings.hosts["client"].run("true")
    settings.connections.reach("client")
    assert settings.host_journals["client"].lapsed
    with pytest.raises(HostError, match="it has heard nothing of this run for too long"):
        settings.apply(line(place.file, "newest"))
    assert place.file.read_text() == "old\n"
    place.unwind(settings)
    assert Journal(place.journal(), LINES).open == []


def test_a_change_that_is_noted_too_late_is_not_made(place: Place, silence: Path) -> None:
    """The controller has not noticed yet that its connection is a new one."""
    settings = twice_changed(place)
    end_lease(place, silence)
    silence.unlink()
    settings.hosts["client"].reconnect()
    with pytest.raises(HostError, match="it has heard nothing of this run"):
        settings.apply(line(place.file, "newest"))
    assert place.file.read_text() == "old\n"
    place.unwind(settings)


def test_a_connection_made_anew_within_the_lease_loses_nothing(place: Place) -> None:
    settings = twice_changed(place)
    settings.connections.reach("client")
    assert not settings.host_journals["client"].lapsed
    settings.apply(line(place.file, "newest"))
    place.unwind(settings)


def test_restoring_before_the_guard_ends_it(place: Place) -> None:
    twice_changed(place).hosts["client"].close()
    pid = guard(place)
    place.unwind(claimed(place))
    assert gone(pid)


def test_the_guard_of_a_run_that_is_over_ends_when_another_takes_the_host(place: Place) -> None:
    first = twice_changed(place)
    pid = guard(place)
    first.host_journals["client"].strike(record for record in first.journal.open if record.number > 1)
    first.hosts["client"].close()
    host = place.connect()
    wait_until(lambda: read(host, place.folder).in_use is None)
    place.claimed("two").unwind()
    assert (place.left(), gone(pid)) == (["knob"], True)


def test_what_cannot_be_put_back_stays_for_a_person_and_keeps_nothing_else(place: Place, silence: Path) -> None:
    """What the stuck file needs stays too; `lab restore` finds both."""
    files = {name: place.folder / name for name in ("base", "stuck", "other")}
    kinds = {"base": HoldingFileLine, "stuck": StuckFileLine}
    settings = claimed(place)
    for name, file in files.items():
        file.write_text("old\n")
        settings.apply(line(file, "new", kind=kinds[name]) if name in kinds else line(file, "new"))
    held = place.folder / "stuck.held"
    held.touch()
    fall_silent(settings, place, silence)
    assert [files[name].read_text() for name in ("base", "stuck", "other")] == ["new\n", "new\n", "old\n"]
    noted = read(place.connect(), place.folder)
    assert (noted.in_use, [record.name for record in noted.records]) == (None, ["file base", "file stuck"])
    held.unlink()
    claimed(place).unwind()
    assert {file.read_text() for file in files.values()} == {"old\n"}
    assert place.left() == sorted([*files, "knob"])


def test_what_was_in_the_way_is_restored_later(place: Place, silence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other host's mounts may be in the way until its guard has unmounted them. Until then others must wait."""
    change_guard(monkeypatch, ("= (0.1, 2, 0,", "= (0.1, 99, 1,"))
    settings = claimed(place)
    settings.apply(line(place.file, "new", kind=StuckFileLine))
    held = place.folder / "knob.held"
    held.touch()
    settings.hosts["client"].close()
    silence.touch()
    lock = place.folder / NAME / "lock"
    wait_until(lambda: lock.read_text().startswith("lapsed "))
    in_use = str(read(place.connect(), place.folder).in_use)
    assert "in use by the host itself, which puts back" in in_use
    assert in_use.endswith("wait for its end: mostly a minute or two, on a busy host longer")
    held.unlink()
    later = claimed(place)
    assert place.file.read_text() == "old\n"
    place.unwind(later)


def test_the_guard_does_what_it_was_told_and_not_what_a_record_says(place: Place, silence: Path) -> None:
    settings = twice_changed(place)
    for number in (2, 3):
        (place.folder / NAME / f"one-00000{number}").write_text(f"touch {place.folder}/planted\n")
    fall_silent(settings, place, silence)
    place.check_restored()


def test_a_guard_that_is_gone_is_started_anew_with_all_it_has_to_know(place: Place, silence: Path) -> None:
    """A restart of the host ends the guard."""
    settings = twice_changed(place)
    os.kill(int(guard(place)), signal.SIGKILL)
    settings.apply(line(place.file, "newest"))
    fall_silent(settings, place, silence)
    place.check_restored()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")
def test_the_account_restores_its_own_changes(place: Place, silence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root would follow links among the files of the account."""
    monkeypatch.setattr(lease, "START", f"SUDO_UID={NOBODY}; " + lease.START)
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # nobody cannot enter the folder of a test
        folder = Path(name)
        folder.chmod(0o755)
        files = {owner: folder / f"of-{owner}" for owner in (NOBODY, 0)}
        settings = claimed(place)
        for owner, file in files.items():
            file.write_text("old\n")
            file.chmod(0o600)
            os.chown(file, owner, -1)
            settings.apply(line(file, "new"))
        fall_silent(settings, place, silence)
        assert [files[NOBODY].read_text(), files[0].read_text()] == ["old\n", "new\n"]
        place.unwind(claimed(place))


@pytest.mark.parametrize("planted", ["another's socket", "another's lock"])
def test_a_guard_that_is_no_longer_wanted_ends_and_touches_nothing(place: Place, silence: Path, planted: str) -> None:
    twice_changed(place)
    pid, journal = guard(place), place.folder / NAME
    if planted == "another's socket":
        (journal / "lease.socket").unlink()
    else:
        (journal / "lock").write_text("two 0 unknown\n{}\n")
        silence.touch()
    assert gone(pid)
    assert place.file.read_text() == "newer\n"
