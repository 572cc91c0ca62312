"""Lists to pick from: what is shown at first, and what a choice changes."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from support.synthetic_runs import make_trials, write_run

from lab.base.errors import BadInput
from lab.notebook import explore, picker
from lab.notebook.opened import runs_to_pick
from lab.notebook.picker import WIDGET, Picker
from lab.notebook.table import Text


class Shown:
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
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """In place of Jupyter's own functions, which need a kernel: they are used in the test of notebooks."""
    output = Shown()
    monkeypatch.setattr(picker, "display", output.display)
    return output


def test_the_default_is_shown_at_once_and_a_choice_in_its_place(shown: Shown) -> None:
    numbers = Picker("Number", lambda: {"one": 1, "two": 2}, lambda number: [Text(f"it is {number}")])
    assert shown.outputs == [["it is 1"]]
    (bundle,) = shown.bundles
    assert bundle["text/plain"] == "Number: one (Jupyter offers 2 to pick from)"
    assert WIDGET in bundle
    numbers.widget.value = "two"
    assert (numbers.value, shown.outputs) == (2, [["it is 1", "it is 2"]])


def test_a_list_that_follows_another_keeps_a_choice_that_is_still_there(shown: Shown) -> None:
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


def test_what_cannot_be_shown_is_told_in_its_place(shown: Shown) -> None:
    Picker("Run", lambda: {"x": "x"}, Mock(side_effect=BadInput("x: no such run", "name another one")))
    assert shown.outputs == [["x: no such run: name another one"]]


def test_run_factor_case_and_trial_follow_each_other(
    shown: Shown, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAB_RUN", raising=False)
    (tmp_path / "results").mkdir()
    for name, title in (("20300101T000000Z-a", "1 ms of delay each way"), ("20300102T000000Z-b", "no delay")):
        run = write_run(tmp_path / "made", make_trials(1, combinations=[("afp", "cp")]), title=title)
        run.path.rename(tmp_path / "results" / name)
    picked = explore.pick_run()
    factor, case = explore.pick_factor(picked), explore.pick_case(picked)
    explore.pick_trial(picked, case)
    assert list(picked.widget.options) == ["20300102T000000Z-b", "20300101T000000Z-a", "example", "example-delay"]
    assert list(factor.widget.options) == ["MTU", "TCP buffer"]
    case.widget.value = "afp-cp-read-9000-65536"
    picked.widget.value = "20300101T000000Z-a"
    of_run, of_factor, of_case, of_trial = (output[-1] for output in shown.outputs)
    assert "1 ms of delay each way" in of_run
    assert "[3 rows x 10 columns]" in of_factor
    assert "TCP 64 KiB" in of_case
    assert "afp-cp-read-9000-65536" in of_trial.replace("\\", "")
    assert case.value == "afp-cp-read-9000-65536"


def test_the_runs_of_a_folder_above_can_be_picked(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("20300101T000000Z-a", "20300102T000000Z-b"):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "run.json").write_text("{}")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.setenv("LAB_RUN", "https://example.org/runs/theirs.zip")
    assert list(runs_to_pick().values()) == [
        "https://example.org/runs/theirs.zip",
        str(tmp_path / "results" / "20300102T000000Z-b"),
        str(tmp_path / "results" / "20300101T000000Z-a"),
        "example",
        "example-delay",
    ]
