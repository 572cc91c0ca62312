"""What puts something into the output of a cell: Jupyter's own functions, with types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Handle(Protocol):
    """An output that can be replaced, wherever its cell is."""

    def update(self, shown: object) -> None:
        """Show this in its place."""


def display(*shown: object) -> None:
    """Show objects, one below the other."""
    _display(*shown)


def display_bundle(bundle: Mapping[str, object]) -> None:
    """Show the first of several forms that can be shown, by their types."""
    _display(dict(bundle), raw=True)


def display_to_replace(shown: object) -> Handle:
    """Show an object, which can be replaced later."""
    handle: Handle = _display(shown, display_id=True)
    return handle


def _display(*shown: object, **options: Any) -> Any:
    from IPython.display import display as show  # comes with Jupyter alone

    return show(*shown, **options)  # type: ignore[no-untyped-call]
