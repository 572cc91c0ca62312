"""Rungs: the same ones stay, others go and come, and one that breaks leaves nothing of itself."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most
from support.memory_host import LINES, Fault, World, knob, untouched

from lab.base.errors import HostError, Interrupted, RestoreError, SettingRefused
from lab.settings.journal import Journal
from lab.settings.layers import Layer, Layers


class Climber:
    """A ladder over a world, and what was climbed."""

    def __init__(self, folder: Path):
        self.world = World(folder)
        self.ladder = Layers(self.world.settings)
        self.climbed: list[str] = []

    def rung(self, key: str, value: str, role: str = "client") -> Layer:
        def climb() -> None:
            self.climbed.append(f"{key}={value}")
            self.world.settings.apply(knob(role, key, value))

        return (key, value), climb

    def client(self) -> dict[str, str]:
        return self.world.hosts["client"].values


@pytest.fixture
def climber(tmp_path: Path) -> Climber:
    return Climber(tmp_path)


def test_common_rungs_stay_and_the_rest_is_climbed_anew(climber: Climber) -> None:
    low, high, other = (climber.rung(*pair) for pair in (("mtu", "9000"), ("space", "1"), ("space", "2")))
    top = climber.rung("mount", "mounted")
    climber.ladder.move([low, high, top])
    climber.climbed.clear()
    climber.ladder.move([low, other, top])
    assert climber.climbed == ["space=2", "mount=mounted"]
    assert climber.client() == {"mtu": "9000", "space": "2", "mount": "mounted"}
    climber.climbed.clear()
    climber.ladder.move([low, other, top])
    assert climber.climbed == []
    climber.ladder.move([low])
    assert climber.client() == {"mtu": "9000", "space": "131072", "mount": "absent"}
    climber.ladder.step_down(0)
    assert climber.world.state() == untouched()


def test_stepping_down_to_more_than_there_is_does_nothing(climber: Climber) -> None:
    climber.ladder.step_down(3)
    climber.ladder.move([climber.rung("mtu", "9000")])
    climber.ladder.step_down(3)
    assert climber.client()["mtu"] == "9000"


def test_what_changed_before_the_ladder_is_not_the_ladders(climber: Climber) -> None:
    climber.world.settings.apply(knob("client", "mount", "mine"))
    climber.ladder.move([climber.rung("mtu", "9000")])
    climber.ladder.step_down(0)
    assert climber.client() == {"mtu": "1500", "space": "131072", "mount": "mine"}


def test_a_rung_that_takes_nothing_counts_as_standing(climber: Climber) -> None:
    rungs = [climber.rung("mtu", "1500"), climber.rung("space", "1")]
    climber.ladder.move(rungs)
    climber.ladder.move(rungs[:1])
    assert climber.world.state() == untouched()


@pytest.mark.parametrize("error", [HostError("gone"), Interrupted("stopped"), KeyError("any")])
def test_a_rung_that_breaks_is_put_back_and_can_be_tried_again(climber: Climber, error: BaseException) -> None:
    low, high = climber.rung("mtu", "9000"), climber.rung("mount", "mounted")

    def breaks(climb: Callable[[], None]) -> None:
        climb()
        raise error

    with pytest.raises(type(error)):
        climber.ladder.move([low, (high[0], partial(breaks, high[1]))])
    assert climber.client() == {"mtu": "9000", "space": "131072", "mount": "absent"}
    climber.climbed.clear()
    climber.ladder.move([low, high])
    assert climber.climbed == ["mount=mounted"]


def test_a_setting_that_is_refused_half_way_is_put_back(climber: Climber) -> None:
    climber.world.counter.fault = Fault(2, "lies", after=False)  # read, nearly, and then this
    with pytest.raises(SettingRefused):
        climber.ladder.move([climber.rung("mtu", "9000")])
    assert climber.world.state() == untouched()


def test_what_cannot_be_put_back_is_said_and_tried_again_by_the_next_step_below(climber: Climber) -> None:
    climber.ladder.move([climber.rung("mtu", "9000"), climber.rung("mount", "mounted")])
    climber.world.hosts["client"].stuck_keys.add("mount")
    with pytest.raises(RestoreError, match="knob mount should be 'absent' and is 'mounted'"):
        climber.ladder.step_down(1)
    climber.world.hosts["client"].stuck_keys.clear()
    climber.ladder.step_down(0)
    assert climber.world.state() == untouched()
    assert Journal(climber.world.path, LINES).open == []


LEVELS = st.tuples(st.sampled_from(["1500", "9000"]), st.sampled_from(["1", "2"]), st.sampled_from(["a", "b"]))
MOVES = st.lists(st.tuples(LEVELS, st.integers(0, 3)), max_size=8)


@at_most(60)
@given(MOVES)
def test_any_walk_stands_where_it_should_and_climbs_no_more_than_needed(
    moves: list[tuple[tuple[str, ...], int]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        climber = Climber(Path(folder))
        standing: tuple[str, ...] = ()
        for levels, height in moves:
            wanted = levels[:height]
            same = next((i for i, pair in enumerate(zip(standing, wanted, strict=False)) if pair[0] != pair[1]), None)
            same = min(len(standing), height) if same is None else same
            climber.climbed.clear()
            named = dict(zip(("mtu", "space", "mount"), wanted, strict=False))
            climber.ladder.move([climber.rung(key, value) for key, value in named.items()])
            assert len(climber.climbed) == height - same
            assert climber.client() == untouched()["client"] | named
            standing = wanted
        climber.ladder.step_down(0)
        assert climber.world.state() == untouched()


def test_it_knows_what_it_stands_on(climber: Climber) -> None:
    low, high, other = (climber.rung(*pair) for pair in (("mtu", "9000"), ("space", "1"), ("space", "2")))
    assert climber.ladder.stands_on([])
    assert not climber.ladder.stands_on([low])
    climber.ladder.move([low, high])
    assert climber.ladder.stands_on([low])
    assert climber.ladder.stands_on([low, high])
    assert not climber.ladder.stands_on([low, other])
    assert not climber.ladder.stands_on([low, high, other])
