"""Lists to pick from in notebooks: the first output, and what a choice changes."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from support.rendered import Like
from support.synthetic_runs import make_trials, write_run

from lab.base.errors import BadInput
from lab.notebook import explore, picker
from lab.notebook.opened import runs_to_pick
from lab.notebook.picker import WIDGET, Picker
from lab.notebook.table import Text

NAMES = ("20300101T000000Z-a", "20300102T000000Z-b")


class CellOutput:
    """What stands in the output of a cell, and what was put in its place."""

    def __init__(self) -> None:
        self.bundles: list[Mapping[str, Any]] = []
        self.outputs: list[list[str]] = []

    def display(self, shown: Any, raw: bool = False) -> Any:
        if raw:
            self.bundles.append(shown)
            return None
        output = [repr(shown)]
        self.outputs.append(output)
        return SimpleNamespace(update=lambda shown: output.append(repr(shown)))


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> CellOutput:
    """In place of Jupyter's own functions, which need a kernel: they are used in the test of notebooks."""
    output = CellOutput()
    monkeypatch.setattr(picker, "display", output.display)
    return output


def test_the_default_is_shown_at_once_and_a_choice_or_an_error_in_its_place(shown: CellOutput) -> None:
    numbers = Picker("Number", lambda: {"one": 1, "two": 2}, lambda number: [Text(f"it is {number}")])
    assert shown.outputs == [["it is 1"]]
    (bundle,) = shown.bundles
    assert bundle["text/plain"] == "Number: one (Jupyter offers 2 to pick from)"
    assert WIDGET in bundle
    numbers.widget.value = "two"
    assert (numbers.value, shown.outputs) == (2, [["it is 1", "it is 2"]])
    Picker("Run", lambda: {"x": "x"}, Mock(side_effect=BadInput("x: no such run", "name another one")))
    assert shown.outputs[1:] == [["x: no such run: name another one"]]


def test_a_list_that_follows_another_keeps_a_choice_that_is_still_there(shown: CellOutput) -> None:
    shelves = {"low": {"a": 1, "b": 2}, "high": {"b": 3, "c": 4}, "empty": {}}
    shelf = Picker("Shelf", lambda: {name: name for name in shelves}, lambda name: [Text(name)])
    thing = Picker("Thing", lambda: shelves[shelf.value], lambda number: [Text(str(number))], shelf)
    thing.widget.value = "b"
    shelf.widget.value = "high"
    assert (thing.widget.value, thing.value) == ("b", 3)
    thing.widget.value = "c"
    shelf.widget.value = "low"
    assert (thing.widget.value, thing.value) == ("a", 1)
    shelf.widget.value = "empty"
    assert shown.outputs[1] == ["1", "2", "3", "4", "1", "Thing: nothing to pick from in this run"]


def test_run_factor_case_and_trial_follow_each_other(shown: CellOutput, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    for name, title in zip(NAMES, ("1 ms of delay each way", "no delay"), strict=True):
        run = write_run(tmp_path / "made", make_trials(1, combinations=[("afp", "cp")]), title=title)
        run.path.rename(tmp_path / "results" / name)
    picked = explore.pick_run()
    factor, case = explore.pick_factor(picked), explore.pick_case(picked)
    explore.pick_trial(picked, case)
    assert list(picked.widget.options) == [*reversed(NAMES), "example", "example-delay"]
    assert list(factor.widget.options) == ["MTU", "TCP buffer"]
    case.widget.value = "afp-cp-read-9000-65536"
    picked.widget.value = NAMES[0]
    shown_last = ("1 ms of delay each way", "[3 rows x 10 columns]", "TCP 64 KiB", "afp-cp-read-9000-65536")
    assert [output[-1].replace("\\", "") for output in shown.outputs] == [Like(f"...{part}...") for part in shown_last]
    assert case.value == "afp-cp-read-9000-65536"


def test_the_runs_of_a_folder_above_can_be_picked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / "results" / name for name in NAMES]
    for path in paths:
        path.mkdir(parents=True)
        (path / "run.json").write_text("{}")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.setenv("LAB_RUN", address := "https://example.org/runs/theirs.zip")
    assert list(runs_to_pick().values()) == [address, *map(str, reversed(paths)), "example", "example-delay"]
