"""Layers: the same ones stay, others go and come, and one that breaks leaves nothing of itself."""

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
from lab.settings.changes import Layer, Layers
from lab.settings.journal import Journal


class Stack:
    """Layers over a world, and those that were applied."""

    def __init__(self, folder: Path):
        self.world = World(folder)
        self.layers = Layers(self.world.settings)
        self.applied: list[str] = []

    def layer(self, key: str, value: str, role: str = "client") -> Layer:
        def apply() -> None:
            self.applied.append(f"{key}={value}")
            self.world.settings.apply(knob(role, key, value))

        return (key, value), apply

    def client(self) -> dict[str, str]:
        return self.world.hosts["client"].values


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    return Stack(tmp_path)


def test_common_layers_stay_and_the_rest_is_applied_anew(stack: Stack) -> None:
    low, high, other = (stack.layer(*pair) for pair in (("mtu", "9000"), ("space", "1"), ("space", "2")))
    top = stack.layer("mount", "mounted")
    stack.layers.move([low, high, top])
    stack.applied.clear()
    stack.layers.move([low, other, top])
    assert stack.applied == ["space=2", "mount=mounted"]
    assert stack.client() == {"mtu": "9000", "space": "2", "mount": "mounted"}
    stack.applied.clear()
    stack.layers.move([low, other, top])
    assert stack.applied == []
    stack.layers.move([low])
    assert stack.client() == {"mtu": "9000", "space": "131072", "mount": "absent"}
    stack.layers.step_down(0)
    assert stack.world.state() == untouched()


def test_what_changed_before_the_layers_is_not_the_layers(stack: Stack) -> None:
    stack.world.settings.apply(knob("client", "mount", "mine"))
    stack.layers.move([stack.layer("mtu", "9000")])
    stack.layers.step_down(0)
    assert stack.client() == {"mtu": "1500", "space": "131072", "mount": "mine"}


def test_a_layer_that_takes_nothing_stands_and_a_setting_that_is_refused_half_way_is_put_back(stack: Stack) -> None:
    layers = [stack.layer("mtu", "1500"), stack.layer("space", "1")]
    stack.layers.move(layers)
    stack.layers.move(layers[:1])
    assert stack.world.state() == untouched()
    stack.layers.step_down(0)
    stack.world.counter.fault = Fault(stack.world.counter.count + 2, "lies", after=False)  # read, nearly, and then this
    with pytest.raises(SettingRefused):
        stack.layers.move([stack.layer("mtu", "9000")])
    assert stack.world.state() == untouched()


@pytest.mark.parametrize("error", [HostError("gone"), Interrupted("stopped"), KeyError("any")])
def test_a_layer_that_breaks_is_put_back_and_can_be_tried_again(stack: Stack, error: BaseException) -> None:
    low, high = stack.layer("mtu", "9000"), stack.layer("mount", "mounted")

    def breaks(apply: Callable[[], None]) -> None:
        apply()
        raise error

    with pytest.raises(type(error)):
        stack.layers.move([low, (high[0], partial(breaks, high[1]))])
    assert stack.client() == {"mtu": "9000", "space": "131072", "mount": "absent"}
    stack.applied.clear()
    stack.layers.move([low, high])
    assert stack.applied == ["mount=mounted"]


def test_what_cannot_be_put_back_is_said_and_tried_again_by_the_next_step_below(stack: Stack) -> None:
    stack.layers.move([stack.layer("mtu", "9000"), stack.layer("mount", "mounted")])
    stack.world.hosts["client"].stuck_keys.add("mount")
    with pytest.raises(RestoreError, match="knob mount should be 'absent' and is 'mounted'"):
        stack.layers.step_down(1)
    stack.world.hosts["client"].stuck_keys.clear()
    stack.layers.step_down(0)
    assert stack.world.state() == untouched()
    assert Journal(stack.world.path, LINES).open == []


LEVELS = st.tuples(st.sampled_from(["1500", "9000"]), st.sampled_from(["1", "2"]), st.sampled_from(["a", "b"]))
MOVES = st.lists(st.tuples(LEVELS, st.integers(0, 3)), max_size=8)


@at_most(60)
@given(MOVES)
def test_any_walk_stands_where_it_should_and_applies_no_more(moves: list[tuple[tuple[str, ...], int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stack = Stack(Path(folder))
        standing: tuple[str, ...] = ()
        for levels, height in moves:
            wanted = levels[:height]
            same = next((i for i, pair in enumerate(zip(standing, wanted, strict=False)) if pair[0] != pair[1]), None)
            same = min(len(standing), height) if same is None else same
            stack.applied.clear()
            named = dict(zip(("mtu", "space", "mount"), wanted, strict=False))
            stack.layers.move([stack.layer(key, value) for key, value in named.items()])
            assert len(stack.applied) == height - same
            assert stack.client() == untouched()["client"] | named
            standing = wanted
        stack.layers.step_down(0)
        assert stack.world.state() == untouched()


def test_it_knows_what_it_stands_on_and_steps_down_to_nothing_higher(stack: Stack) -> None:
    low, high, other = (stack.layer(*pair) for pair in (("mtu", "9000"), ("space", "1"), ("space", "2")))
    assert [stack.layers.stands_on(layers) for layers in ([], [low])] == [True, False]
    stack.layers.move([low, high])
    for layers, stands in (([low], True), ([low, high], True), ([low, other], False), ([low, high, other], False)):
        assert stack.layers.stands_on(layers) is stands
    stack.layers.step_down(3)
    stack.layers.move([stack.layer("mtu", "9000")])
    stack.layers.step_down(3)
    assert stack.client()["mtu"] == "9000"
