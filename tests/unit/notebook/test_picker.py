"""Lists to pick from: what is shown at first, and what a choice changes."""

from __future__ import annotations

from typing import Any

import pytest
from support.cell_output import Shown

from lab.base.errors import BadInput
from lab.notebook.opened import runs_to_pick
from lab.notebook.picker import WIDGET, Picker
from lab.notebook.table import Text


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
    def show(name: str) -> list[object]:
        raise BadInput(f"{name}: no such run", "name another one")

    Picker("Run", lambda: {"x": "x"}, show)
    assert shown.outputs == [["x: no such run: name another one"]]


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
