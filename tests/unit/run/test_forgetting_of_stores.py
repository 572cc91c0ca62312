"""A file system that caches by itself forgets while nothing uses it, and the server and the mount come back."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.memory_host import Fault, World, knob
from support.pairs import pair_of

from lab.base.errors import CommandError
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts.command import Command, command
from lab.run.case import network
from lab.run.case.made_store import MadeStore
from lab.run.case.session import Session
from lab.settings.layers import Layer, Layers

CASE = Case("nfs", "cp", Direction.READ, 1500, "default", "zfs", "file", 1, options=(("server_cache", "cold"),))


class Setup(Session):
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
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(network, "layers", lambda *_: [])
    return World(tmp_path)


def test_the_server_stops_the_store_forgets_and_the_server_starts_anew(world: World) -> None:
    session = Setup(world, command("write", "mtu", "forgotten"))
    before = len(world.hosts["server"].writes)
    session.forget_store(CASE)
    steps = world.hosts["server"].writes[before:]
    assert steps.index(("mount", "absent")) < steps.index(("mtu", "forgotten")) < steps.index(("mount", "served"))
    assert "space" not in dict(steps), "the store itself stands all along"


def test_for_a_warm_server_nothing_is_forgotten(world: World) -> None:
    session = Setup(world, command("write", "mtu", "forgotten"))
    before = len(world.hosts["server"].writes)
    session.forget_store(replace(CASE, options=(("server_cache", "warm"),)))
    assert len(world.hosts["server"].writes) == before


def test_a_store_that_is_not_there_again_is_told_with_what_helps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Setup(world, command("write", "mtu", "forgotten"))
    world.counter.fault = Fault(world.counter.count + 3, "refused")  # after the three that put the mount back
    with pytest.raises(CommandError, match="refused") as refused:
        session.forget_store(CASE)
    assert "dmesg" in refused.value.remedy


def test_without_a_cache_of_its_own_nothing_stops(world: World) -> None:
    session = Setup(world, None)
    before = world.writes()
    session.forget_store(CASE)
    assert world.writes() == before
