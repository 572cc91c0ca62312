"""What cannot be put back at first because it lies on what failed; and what needs nothing of the lab's."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from support.memory_host import BEFORE, Counter, HoldingKnob, Knob, MemoryHost, World, knob

from lab.base.errors import Interrupted, LabFailure, RestoreError
from lab.settings.changes import Settings
from lab.settings.journal import Journal, LineFormat
from lab.stores.named_device import NamedDevice


@dataclass(frozen=True)
class LoneKnob(HoldingKnob):
    """One that stands on nothing of the lab's, and may be gone."""

    kind = "lone-knob"
    stands_alone = True

    def explain(self, value: str) -> str:
        return "the space is gone" if value == "gone" else ""


def test_a_folder_on_a_disk_that_failed_goes_with_the_mount_below_it(tmp_path: Path) -> None:
    world = World(tmp_path)
    host = world.hosts["server"]
    host.values["folder"] = "absent"

    def unmount(at: MemoryHost, key: str, value: str) -> None:
        if (key, value) == ("mount", "absent"):
            at.values["folder"] = "absent"

    world.settings.apply(knob("server", "space", "9", HoldingKnob))
    for key in ("mount", "folder"):
        world.settings.apply(knob("server", key, "1"))
    host.stuck_keys, host.watch = {"folder"}, unmount
    world.settings.unwind()
    assert host.values == BEFORE | {"folder": "absent"}
    assert not world.settings.journal.open


def test_what_stands_alone_and_is_gone_keeps_nothing_else_and_is_told_in_words(tmp_path: Path) -> None:
    lines = LineFormat({kind.kind: kind for kind in (Knob, HoldingKnob, LoneKnob)})
    host = MemoryHost("server", Counter(), **BEFORE)
    settings = Settings({"server": host}, Journal(tmp_path / "journal.jsonl", lines), patience_s=0)
    for setting in (knob("server", "mtu", "9", HoldingKnob), knob("server", "space", "1", LoneKnob)):
        settings.apply(setting)
    host.values["space"], host.stuck_keys = "gone", {"space"}
    with pytest.raises(RestoreError) as caught:
        settings.unwind()
    assert caught.value.problems == ("server: the space is gone",)
    assert host.values["mtu"] == BEFORE["mtu"]
    assert [record.name for record in settings.journal.open] == ["knob space"]
    settings.restorer.is_given_up = lambda record: record.name == "knob space"
    settings.unwind()
    assert not settings.journal.open


def test_what_failed_before_things_were_put_back_is_known() -> None:
    """A transfer fails, and what was changed for it cannot be put back, nor what was changed before."""
    with pytest.raises(RestoreError) as caught:  # noqa: PT012
        try:
            try:
                raise LabFailure("the disk is gone")
            finally:
                raise RestoreError(["folder"])
        finally:
            raise RestoreError(["mount"])
    assert str(caught.value.failed_before()) == "the disk is gone"
    assert RestoreError(["folder"]).failed_before() is None


def fail_and_leave(error: BaseException, cause: Exception | None = None) -> None:
    try:
        raise error from cause
    finally:
        raise RestoreError(["folder"])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Interrupted("stopped by SIGTERM"), "stopped by SIGTERM"),
        (OSError(28, "No space left on device", "run.json"), "run.json: No space left on device"),
        (ValueError("a mistake"), "ValueError('a mistake')"),
    ],
)
def test_what_is_no_failure_of_a_host_comes_first_too(error: BaseException, told: str) -> None:
    with pytest.raises(RestoreError) as caught:
        fail_and_leave(error)
    assert caught.value.brief().splitlines()[0] == told


def test_an_error_that_explains_another_one_stands_for_both() -> None:
    with pytest.raises(RestoreError) as caught:
        fail_and_leave(LabFailure("the share asks for a password"), LabFailure("exit code 32"))
    assert str(caught.value.failed_before()) == "the share asks for a password"


def test_a_device_that_is_gone_has_no_value_and_says_what_helps() -> None:
    device = NamedDevice("/dev/sdx", "file-share-lab-0123456789abcdef")
    with pytest.raises(LabFailure, match=r"^the device /dev/sdx is gone$"):
        device.check("gone")
    assert "`lab restore --gone /dev/sdx`" in device.explain("gone")
    assert not device.explain("taken")


def test_an_error_that_was_raised_from_itself_has_nothing_before_it() -> None:
    error = RestoreError(["client: MTU"])
    error.__cause__ = error
    assert (error.failed_before(), error.brief().count("client: MTU")) == (None, 1)
