"""What was changed is put back: whatever goes wrong, wherever it goes wrong."""

import errno
import os
import tempfile
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import memory_host
from support.examples import at_most
from support.memory_host import BEFORE, LINES, Fault, World, knob, lab_signals, untouched

from lab.base.errors import (
    CommandError,
    HostError,
    HostLost,
    Interrupted,
    LabError,
    NotNoted,
    RestoreError,
    SettingRefused,
)
from lab.base.present import present
from lab.settings import by_hand as by_hand_file
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from lab.settings.operation import Setting

CHANGES = st.tuples(*map(st.sampled_from, (memory_host.ROLES, sorted(BEFORE), ["1500", "9000", "x y"])))
PROGRAMS = st.recursive(CHANGES, lambda inner: st.lists(inner, max_size=4), max_leaves=8)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@at_most(100)
@given(PROGRAMS)
def test_scopes_leave_everything_as_it_was(program: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.run([program])
        assert world.state() == untouched()
        assert world.settings.journal.open == Journal(world.path, LINES).open == []


# one thing changed three times: the newest record fails, the older ones succeed, and only theirs may count
THRICE = [("client", "mount", "1500"), ("client", "mount", "9000"), ("client", "mount", "1500")]


@at_most(250)
@example(program=THRICE, at=12, kind="refused", after=False)
@given(PROGRAMS, st.integers(0, 40), st.sampled_from(memory_host.KINDS), st.booleans())
def test_whatever_goes_wrong_once_everything_is_put_back(program: Any, at: int, kind: str, after: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, lab_signals():
        world = World(Path(folder))
        world.counter.fault = Fault(at, kind, after)
        failed = True
        with suppress(LabError, Interrupted):
            world.run([program])
            failed = False
        if world.counter.struck_while_held is False and kind != "dead":
            # it struck while changing, so that putting back was not disturbed
            assert world.state() == untouched()
            assert Journal(world.path, LINES).open == []
        if not failed:
            assert world.state() == untouched()
        world.counter.heal()
        world.restore()
        assert world.state() == untouched()
        count = world.writes()
        world.restore()
        assert (world.writes(), Journal(world.path, LINES).open) == (count, [])


@at_most(150)
@given(PROGRAMS, st.integers(0, 40), st.booleans(), st.integers(0, 20))
def test_after_a_kill_the_journal_alone_restores(program: Any, at: int, after: bool, again: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.counter.fault = Fault(at, "killed", after)
        with suppress(memory_host.Killed):
            world.run([program])
        world.counter.heal()
        # and restoring can be killed too
        world.counter.fault = Fault(world.counter.count + again, "killed", after)
        with suppress(memory_host.Killed):
            world.restore()
        world.counter.heal()
        world.restore()
        assert world.state() == untouched()
        assert Journal(world.path, LINES).open == []


def test_what_is_as_wanted_or_was_put_back_by_somebody_is_left_alone(world: World) -> None:
    with world.settings.scope():
        world.settings.apply(knob("client", "mtu", "1500"))
        world.hosts["client"].values["mtu"] = "4000"  # by somebody else, whose business it stays
    assert world.writes() == 0
    assert not world.path.exists()
    assert world.hosts["client"].values["mtu"] == "4000"
    world.settings.apply(knob("client", "space", "9000"))
    world.hosts["client"].values["space"] = BEFORE["space"]
    count = world.writes()
    world.settings.unwind()
    assert (world.writes(), world.settings.journal.open) == (count, [])


def test_the_newest_process_that_has_ended_is_found(world: World) -> None:
    for host in ("server", "client"):
        world.settings.apply(knob(host, "mount", "running"))
    assert world.settings.find_ended() is None
    world.hosts["server"].values["mount"] = "absent"
    ended = world.settings.find_ended()
    assert ended
    assert (ended.host, ended.name) == ("server", "knob mount")
    world.counter.gone = HostLost("gone")
    assert world.settings.find_ended() is None


def test_secrets_reach_the_host_and_nothing_else(world: World) -> None:
    setting = knob("client", "mtu", "9000")
    world.settings.apply(setting)
    world.settings.unwind()
    assert memory_host.SECRET in [step.given for step in setting.apply]
    for text in (world.path.read_text(), repr(setting), *(step.by_hand() for step in setting.apply)):
        assert memory_host.SECRET not in text


def test_a_refusal_says_what_was_asked_and_an_old_value_that_is_none_is_not_journalled(world: World) -> None:
    world.hosts["client"].values["mtu"] = "9" * 5000
    with pytest.raises(HostError, match=r"client: knob mtu: '9999.* is no value that it can have"):
        world.settings.apply(knob("client", "mtu", "9000"))
    assert (world.writes(), world.path.exists()) == (0, False)
    world.hosts["client"].stuck_keys.add("space")
    with pytest.raises(SettingRefused, match=r"client: knob space: asked for '9000', in effect is '131072'"):
        world.settings.apply(knob("client", "space", "9000"))


def test_one_that_cannot_be_put_back_does_not_stop_the_others(world: World) -> None:
    for key, wanted in (("mtu", "9000"), ("space", "6 x"), ("mount", "mounted")):
        world.settings.apply(knob("server", key, wanted))
    world.hosts["server"].stuck_keys.add("space")
    with pytest.raises(RestoreError) as caught:
        world.settings.unwind()
    assert world.state()["server"] == BEFORE | {"space": "6 x"}
    by_hand, why = world.path.with_name(by_hand_file.NAME), "server: knob space should be '131072' and is '6 x'"
    assert caught.value.brief().splitlines() == [
        "not everything could be put back; `lab restore` tries again",
        why,
        f"to put it back by hand, type what {by_hand} has",
    ]
    assert by_hand.read_text().splitlines()[1:] == ["", f"# {why}", "sudo write space 131072"]
    assert [record.name for record in Journal(world.path, LINES).open] == ["knob space"]
    world.hosts["server"].stuck_keys.clear()
    world.restore()
    assert world.state() == untouched()
    assert not by_hand.exists()


def test_what_its_command_said_last_tells_why_something_stays(world: World) -> None:
    world.settings.apply(knob("server", "mount", "mounted", memory_host.SlowKnob))
    world.settings.apply(knob("client", "mount", "mounted"))
    for host in world.hosts.values():
        host.stuck_keys, host.says = {"mount"}, "umount: retrying\numount: /mnt: target is busy.\n"
    world.counter.fault = Fault(world.counter.count + 1, "stuck")  # the first command on the client
    with pytest.raises(RestoreError) as caught:
        world.settings.unwind()
    stays = "knob mount should be 'absent' and is 'mounted'"
    assert caught.value.problems == (
        f"client: {stays}: write mount absent: did not end within 1 s and was ended",
        f"server: {stays}: umount: /mnt: target is busy; {by_hand_file.REMEDIES['[Bb]usy']}",
    )


def test_what_ended_a_run_comes_before_what_could_not_be_put_back(world: World) -> None:
    """A transfer stalls; looking at the mount fails then, too; and what was changed before it stays."""

    def stall() -> None:
        with world.settings.scope():
            world.settings.apply(knob("server", "space", "9"))
            world.hosts["server"].stuck_keys.add("space")
            try:
                raise CommandError("client", ["cp", "a", "b"], 1, "cp: b: Connection timed out", "is the cable in?")
            finally:
                world.counter.fault = Fault(world.counter.count, "lost")
                world.hosts["client"].run("read", "mount")

    with pytest.raises(RestoreError) as caught:
        stall()
    first = "client: cp a b: exit code 1: cp: b: Connection timed out"
    assert caught.value.brief().splitlines()[:3] == [
        first,
        "is the cable in?",
        "not everything could be put back; `lab restore` tries again",
    ]
    assert str(caught.value).startswith(f"{first}; not everything could be put back; ")


def test_without_a_run_folder_the_commands_to_type_are_in_a_folder_for_scratch_files(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`lab restore --hosts FILE` needs no run folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings = Settings(world.hosts, Journal(None, LINES), patience_s=0)
    settings.apply(knob("server", "space", "9"))
    world.hosts["server"].stuck_keys.add("space")
    with pytest.raises(RestoreError) as caught:
        settings.unwind()
    assert "sudo write space 131072" in present(caught.value.by_hand).read_text()


def test_what_holds_the_means_to_put_later_ones_back_is_kept_until_they_are(world: World) -> None:
    """A folder has the file by which a process in it is found: without that, nobody would ever end the process."""
    for host in ("server", "client"):
        world.settings.apply(knob(host, "mount", "a folder", memory_host.HoldingKnob))
        world.settings.apply(knob(host, "mtu", "a process in it"))
    world.hosts["server"].stuck_keys.add("mtu")
    with pytest.raises(RestoreError) as caught:
        world.settings.unwind()
    assert "server: knob mount stays: another open change needs it" in str(caught.value)
    assert world.hosts["server"].values["mount"] == "a folder"
    assert world.state()["client"] == BEFORE
    assert [record.name for record in Journal(world.path, LINES).open] == ["knob mount", "knob mtu"]
    world.hosts["server"].stuck_keys.clear()
    world.restore()
    assert world.state() == untouched()


def test_a_step_that_hangs_does_not_keep_the_next_one_from_forcing_it(world: World) -> None:
    world.settings.apply(knob("client", "mount", "mounted", memory_host.SlowKnob))
    world.counter.fault = Fault(world.counter.count + 1, "stuck")
    world.settings.unwind()
    assert world.state() == untouched()


def test_a_signal_while_putting_back_waits_until_all_is_back(world: World) -> None:
    with lab_signals():
        for key in BEFORE:
            world.settings.apply(knob("client", key, "new"))
        world.counter.fault = Fault(world.counter.count + 3, "signal")
        with pytest.raises(Interrupted, match="SIGTERM"):
            world.settings.unwind()
    assert world.state() == untouched()
    assert Journal(world.path, LINES).open == []


def test_a_full_disk_does_not_keep_hosts_from_being_put_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in BEFORE:
        world.settings.apply(knob("client", key, "new"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
        with pytest.raises(NotNoted, match=r"knob mtu was put back, but the journal says not: .*No space") as raised:
            world.settings.unwind()
    cause, what_to_do = raised.value.brief().splitlines()
    reason = "No space left on device; everything was put back on the hosts, but not noted here"
    assert cause.endswith(f"journal.jsonl: {reason}")
    assert what_to_do.startswith("make room on that disk of this machine; then `lab restore` notes it")
    assert world.state() == untouched()
    world.restore()
    assert Journal(world.path, LINES).open == []


def test_steps_are_brought_about_one_after_the_other(world: World) -> None:
    def steps() -> Generator[Setting, None, str]:
        yield knob("server", "mtu", "9000")
        value = world.hosts["server"].run("read", "mtu").stdout
        yield knob("server", "space", value)
        return f"both are {value}"

    assert world.settings.follow(steps()) == "both are 9000"
    assert world.hosts["server"].values["space"] == "9000"
    world.settings.unwind()
    assert world.state() == untouched()
