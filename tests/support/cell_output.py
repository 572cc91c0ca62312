"""The output of a cell, in place of Jupyter's, which needs a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lab.notebook import picker


class Shown:
    """What stands in the output of a cell, and what was put in its place."""

    def __init__(self) -> None:
        self.bundles: list[Mapping[str, Any]] = []
        self.outputs: list[list[str]] = []

    def display(self, bundle: Mapping[str, Any]) -> None:
        self.bundles.append(bundle)

    def display_to_replace(self, first: object) -> Shown._Handle:
        self.outputs.append([repr(first)])
        return Shown._Handle(self.outputs[-1])

    class _Handle:
        def __init__(self, output: list[str]) -> None:
            self.output = output

        def update(self, shown: object) -> None:
            self.output.append(repr(shown))


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """In place of Jupyter's own functions, which need a kernel: they are used in the test of notebooks."""
    output = Shown()
    monkeypatch.setattr(picker, "display_bundle", output.display)
    monkeypatch.setattr(picker, "display_to_replace", output.display_to_replace)
    return output
