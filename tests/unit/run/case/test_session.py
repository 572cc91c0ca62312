"""A session's store forgets while nothing uses it; at the end, its folder in a share is made reachable."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.memory_host import Fault, World, knob
from support.pairs import STORE_NAME, pair_of
from support.parts import case_of

from lab.base.errors import CommandError, HostError, LabFailure
from lab.design.case import Case
from lab.hosts import Role
from lab.hosts.command import Command, command
from lab.run.case import network
from lab.run.case.made_store import MadeStore
from lab.run.case.session import Session
from lab.settings.changes import Layer, Layers

CASE = case_of("read", "nfs", store="zfs", server_cache="cold")
FORGET = command("write", "mtu", "forgotten")


class StoreSession(Session):
    """A session whose layers are values of a host in memory."""

    def __init__(self, world: World, forget: Command | None):
        self.pair, self.settings = pair_of(hosts={"server": world.hosts["server"]}), world.settings
        self.pairs = (self.pair,)
        self.layers = Layers(self.settings)
        self._store = MadeStore("zfs", {}, 1, forget=forget)
        self.set_up(CASE)

    def _store_layers(self, case: Case, key: tuple[object, ...] = ()) -> list[Layer]:
        return [("store", lambda: self.settings.apply(knob("server", "space", "pool")))]

    def set_up(self, case: Case) -> Any:
        """The store, and a server on it."""
        serving: Layer = ("serve", lambda: self.settings.apply(knob("server", "mount", "served")))
        self.layers.move([*self._store_layers(case), serving])


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(network, "layers", lambda *_: [])
    return World(tmp_path)


def test_the_server_stops_the_store_forgets_and_the_server_starts_anew(memory: World) -> None:
    session = StoreSession(memory, FORGET)
    before = memory.writes()
    session.forget_store(CASE)
    steps = memory.hosts["server"].writes[before:]
    assert steps.index(("mount", "absent")) < steps.index(("mtu", "forgotten")) < steps.index(("mount", "served"))
    assert "space" not in dict(steps), "the store itself stays all along"


def test_a_store_that_is_not_there_again_is_an_error_with_what_helps(memory: World) -> None:
    session = StoreSession(memory, FORGET)
    memory.counter.fault = Fault(memory.counter.count + 3, "refused")  # after the three that put the mount back
    with pytest.raises(CommandError, match="refused") as refused:
        session.forget_store(CASE)
    assert "dmesg" in refused.value.remedy


@pytest.mark.parametrize(("forget", "server_cache"), [(FORGET, "warm"), (None, "cold")])
def test_a_warm_server_or_no_own_cache_stops_nothing(memory: World, forget: Command | None, server_cache: str) -> None:
    session = StoreSession(memory, forget)
    before = memory.writes()
    session.forget_store(CASE.with_option("server_cache", server_cache))
    assert memory.writes() == before


REFUSED = CommandError("client", ("mount",), 1, "no route to host\n")


class Ending:
    """A session at its end; ``looks`` says, for each look through its mount, whether the folder is there."""

    def __init__(self, *looks: bool | HostError, mounted: str | None = None, failure: LabFailure | None = None):
        self.looks, self.failure = list(looks), failure
        self.calls, self.lines = list[str](), list[str]()
        session: Any = object.__new__(Session)
        config = SimpleNamespace(share=SimpleNamespace(mounted=mounted))
        session.pair = pair_of(cast(Any, config), hosts={Role.CLIENT: SimpleNamespace(shell=self._look)})
        session.shares = SimpleNamespace(folder=lambda _: f"/srv/share/{STORE_NAME}")
        session.settings = SimpleNamespace(connections=SimpleNamespace(tell=self.lines.append))
        session.mounting = SimpleNamespace(
            failed=SimpleNamespace(clear=lambda: self.calls.append("forget failures")),
            unmount=lambda: self.calls.append("drop"),
        )
        session.set_up = self._set_up
        session._in_share = CASE
        self.session: Session = session

    def _look(self, _text: str, path: str, check: bool, deadline_s: float) -> SimpleNamespace:
        assert (path, check, deadline_s > 0) == (f"/mnt/{STORE_NAME}", False, True)
        if isinstance(is_there := self.looks.pop(0), HostError):
            raise is_there
        return SimpleNamespace(exit_code=0 if is_there else 1)

    def _set_up(self, case: Case) -> SimpleNamespace:
        assert case is CASE
        self.calls.append("set up")
        if self.failure:
            raise self.failure
        folder, share = f"/srv/share/{STORE_NAME}", SimpleNamespace(path="/srv/share")
        return SimpleNamespace(attached=SimpleNamespace(path="/mnt"), folder=folder, share=share)


@pytest.mark.parametrize(
    ("ending", "in_share", "calls"),
    [
        (Ending(), None, []),
        (Ending(True), CASE, ["forget failures", "set up"]),
        (Ending(False), CASE, ["forget failures", "set up", "drop", "set up"]),
        (Ending(mounted="/mnt"), CASE, []),
    ],
    ids=["nothing in a share", "within reach", "mount has died", "somebody else's mount"],
)
def test_a_folder_is_made_reachable_by_a_mount_of_ours(ending: Ending, in_share: Case | None, calls: list[str]) -> None:
    ending.session._in_share = in_share
    ending.session.leave_share()
    assert (ending.calls, ending.lines) == (calls, [])


@pytest.mark.parametrize("ending", [Ending(failure=REFUSED), Ending(REFUSED)], ids=["mount fails", "mount hangs"])
def test_a_folder_out_of_reach_is_named_with_the_reason(ending: Ending) -> None:
    ending.session.leave_share()
    (line,) = ending.lines
    assert line.startswith(f"warning: the folder {STORE_NAME} stays in the share, which is out of reach (")
    assert "no route to host" in line
