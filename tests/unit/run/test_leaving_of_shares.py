"""At the end of a run its folder in a share is brought within reach, so that putting back removes it."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.pairs import pair_of

from lab.base.errors import CommandError, HostError, LabFailure
from lab.design.case import Case
from lab.hosts import Role
from lab.run.case.session import Session

FOLDER = "file-share-lab-0123456789abcdef"
CASE = cast(Case, "a case through the mount")


class Ending:
    """A session at its end; ``there`` says, for each look through its mount, whether the folder is to be seen."""

    def __init__(self, *there: bool | HostError, mounted: str | None = None, failure: LabFailure | None = None):
        self.there, self.failure = list(there), failure
        self.calls, self.lines = list[str](), list[str]()
        session: Any = object.__new__(Session)
        config = SimpleNamespace(share=SimpleNamespace(mounted=mounted))
        session.pair = pair_of(cast(Any, config), hosts={Role.CLIENT: SimpleNamespace(shell=self._look)})
        session.shares = SimpleNamespace(folder=lambda _: f"/srv/share/{FOLDER}")
        session.settings = SimpleNamespace(connections=SimpleNamespace(tell=self.lines.append))
        session.mounting = SimpleNamespace(
            failed=SimpleNamespace(clear=lambda: self.calls.append("forget failures")),
            unmount=lambda: self.calls.append("drop"),
        )
        session.set_up = self._set_up
        session._in_share = CASE
        self.session: Session = session

    def _look(self, _text: str, path: str, check: bool, deadline_s: float) -> SimpleNamespace:
        assert (path, check, deadline_s > 0) == (f"/mnt/{FOLDER}", False, True)
        if isinstance(seen := self.there.pop(0), HostError):
            raise seen
        return SimpleNamespace(exit_code=0 if seen else 1)

    def _set_up(self, case: Case) -> SimpleNamespace:
        assert case is CASE
        self.calls.append("set up")
        if self.failure:
            raise self.failure
        folder, share = f"/srv/share/{FOLDER}", SimpleNamespace(path="/srv/share")
        return SimpleNamespace(attached=SimpleNamespace(path="/mnt"), folder=folder, share=share)


def test_a_run_that_made_nothing_in_a_share_mounts_nothing() -> None:
    ending = Ending()
    ending.session._in_share = None
    ending.session.leave_share()
    assert (ending.calls, ending.lines) == ([], [])


def test_a_folder_within_reach_is_left_to_putting_back() -> None:
    ending = Ending(True)
    ending.session.leave_share()
    assert (ending.calls, ending.lines) == (["forget failures", "set up"], [])


def test_a_mount_that_has_died_is_made_anew() -> None:
    ending = Ending(False)
    ending.session.leave_share()
    assert (ending.calls, ending.lines) == (["forget failures", "set up", "drop", "set up"], [])


def test_a_mount_of_somebody_else_is_not_made_anew() -> None:
    ending = Ending(mounted="/mnt")
    ending.session.leave_share()
    assert (ending.calls, ending.lines) == ([], [])


@pytest.mark.parametrize("hangs", [False, True], ids=["mount fails", "mount hangs"])
def test_a_folder_out_of_reach_is_named_with_the_reason(hangs: bool) -> None:
    error = CommandError("client", ("mount",), 1, "no route to host\n")
    ending = Ending(error) if hangs else Ending(failure=error)
    ending.session.leave_share()
    (line,) = ending.lines
    assert line.startswith(f"warning: the folder {FOLDER} stays in the share, which is out of reach (")
    assert "no route to host" in line
