"""A mount that fails is tried again, at most three times in a trial; each try is counted, and nothing else is."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from support.memory_host import World, knob, untouched
from support.runner_bench import SMALL, RunBench, measured

from lab.base.errors import (
    CommandError,
    DeadlineExceeded,
    HostLost,
    LabError,
    LabFailure,
    SettingRefused,
    TransferError,
)
from lab.run.case import mounting
from lab.run.case.mounting import Mounting
from lab.run.transfer.result import TransferResult
from lab.settings.changes import Layers

DIED = CommandError("client", ("/bin/sh", "-c", "mount", "sh"), 1, "gvfsd-fuse does not show smb://x: it has died\n")


class Share:
    """Two layers over a memory world, each of which fails as a test says."""

    def __init__(self, folder: Path):
        self.world = World(folder)
        self.layers = Layers(self.world.settings)
        self.mounting = Mounting(self.layers)
        self.failures: dict[str, list[LabError]] = {"mtu": [], "mount": []}
        self.applied: list[str] = []

    def set_up(self) -> None:
        self.mounting.set_up([(name, partial(self._apply, name)) for name in ("mtu", "mount")])

    def _apply(self, name: str) -> None:
        self.applied.append(name)
        self.world.settings.apply(knob("server", name, "1"))
        if self.failures[name]:
            raise self.failures[name].pop(0)

    @property
    def mount(self) -> str:
        return self.world.hosts["server"].values["mount"]


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Share]:
    monkeypatch.setattr(mounting, "PAUSE_S", 0.0)
    share = Share(tmp_path)
    yield share
    share.layers.step_down(0)
    assert share.world.state() == untouched()


@pytest.mark.parametrize("error", [DIED, SettingRefused("asked for 'mounted', in effect is 'absent'", host="client")])
def test_a_mount_that_fails_once_is_there_at_the_second_try_without_the_first(share: Share, error: LabError) -> None:
    share.failures["mount"] = [error]
    share.set_up()
    assert (share.applied, share.mount) == (["mtu", "mount", "mount"], "1")
    assert share.mounting.failed == [str(error.cause_first()).splitlines()[0]]
    assert len(share.world.settings.journal.open) == 2


@pytest.mark.parametrize(
    ("layer", "error", "applied", "failed"),
    [
        ("mount", DIED, ["mtu", "mount", "mount", "mount"], 3),
        ("mount", DeadlineExceeded("client", ("gio",), 60, ""), ["mtu", "mount"], 1),
        ("mount", HostLost("the connection was lost", host="client"), ["mtu", "mount"], 0),
        ("mount", CommandError("client", ("mount",), 1, "not permitted", "allow it"), ["mtu", "mount"], 1),
        ("mount", LabFailure("any"), ["mtu", "mount"], 0),
        ("mtu", DIED, ["mtu"], 0),
    ],
    ids=["always fails", "deadline", "lost", "remedy known", "another kind", "below the mount"],
)
def test_a_mount_is_tried_three_times_and_only_where_another_try_may_help(
    share: Share, layer: str, error: LabError, applied: list[str], failed: int
) -> None:
    share.failures[layer] = [error] * 9
    with pytest.raises(type(error)):
        share.set_up()
    assert (share.applied, len(share.mounting.failed)) == (applied, failed)
    if error is DIED:
        assert share.mounting.failed == ["client: gvfsd-fuse does not show smb://x: it has died"] * failed


def test_a_mount_that_cannot_be_renewed_is_taken_down_and_counts_as_a_try(share: Share) -> None:
    share.set_up()
    assert (share.mounting.renew(Mock(side_effect=DIED)), share.mount) == (False, "absent")
    share.failures["mount"] = [DIED] * 9
    with pytest.raises(CommandError):
        share.set_up()
    assert (share.applied, len(share.mounting.failed)) == (["mtu", *["mount"] * 3], 3)


@pytest.mark.parametrize(("remedy", "may_pass"), [("", True), ("free some space", False)])
def test_a_mount_that_went_away_during_a_transfer_counts_as_a_try(share: Share, remedy: str, may_pass: bool) -> None:
    share.set_up()
    assert share.mounting.drop(TransferError("cp: exit code 1", remedy, host="client")) == may_pass
    assert share.mount == ("absent" if may_pass else "1")
    (why,) = share.mounting.failed
    assert why.startswith("gone during the transfer: client: cp: exit code 1")


def test_a_mount_that_vanishes_in_each_transfer_is_set_up_twice_again(share: Share) -> None:
    dropped: list[bool] = []
    while not dropped or dropped[-1]:
        share.set_up()
        dropped.append(share.mounting.drop(TransferError("cp: exit code 1", host="client")))
    assert dropped == [True, True, False]


def test_a_trial_says_how_often_its_share_was_mounted_and_the_next_one_does_not(bench: RunBench) -> None:
    failed = {"b001-0002": 1, "b001-0004": 3}

    def outcome(trial_id: str) -> TransferResult:
        bench.session.mounting.failed += ["client: it has died"] * failed.get(trial_id, 0)
        if failed.get(trial_id) == 3:
            raise DIED
        return measured()

    bench.outcome = outcome
    bench.run(SMALL)
    trials = bench.transferred()
    second, fourth = trials["b001-0002"], trials["b001-0004"]
    assert second.observed.remarks == ("odd", "the share was mounted at try 2 only: client: it has died")
    assert (second.status, second.observed.mount_tries) == ("ok", 2)
    assert (fourth.status, fourth.observed.mount_tries) == ("failed", 3)
    assert fourth.reason.splitlines()[0] == "client: gvfsd-fuse does not show smb://x: it has died"
    assert {trial.observed.mount_tries for name, trial in trials.items() if name not in failed} == {None}
