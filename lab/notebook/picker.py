"""A list to pick from, above the output of a plain function for the choice.

The output is an ordinary one: first for the default choice, then replaced when another one is picked. So a notebook is
complete without a kernel, and a saved notebook shows the last choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from lab.base.errors import BadInput, LabError
from lab.notebook.table import Stack, Text, display

Choice = TypeVar("Choice")
WIDGET = "application/vnd.jupyter.widget-view+json"
WIDE, NAME_WIDTH = "min(100%, 60em)", "6em"


class Picker(Generic[Choice]):
    """A list of choices by name, and the figures, tables and texts that ``show`` returns for the chosen one.

    ``follows`` is another picker that the choices depend on. List and output are displayed at once in the current cell.
    """

    def __init__(
        self,
        label: str,
        options: Callable[[], Mapping[str, Choice]],
        show: Callable[[Choice], Sequence[object]],
        follows: Picker[Any] | None = None,
    ):
        from ipywidgets import Dropdown, Layout  # slow to import, and comes with Jupyter only

        self.label, self._options, self._show = label, options, show
        self._choices = self._find_choices()
        self._listeners: list[Callable[[], None]] = []
        self._is_replacing = False
        self.widget = Dropdown(
            options=list(self._choices), description=label, layout=Layout(width=WIDE),
            style={"description_width": NAME_WIDTH},
        )  # fmt: skip
        static = f"{label}: {self.chosen_name()} (Jupyter offers {len(self._choices)} to pick from)"
        display({WIDGET: self.widget._repr_mimebundle_()[WIDGET], "text/plain": static}, raw=True)
        self._handle = display(self.shown)
        self.widget.observe(lambda _: self._refresh(), names="value")
        if follows:
            follows._listeners.append(self._follow)

    @property
    def value(self) -> Choice:
        """The chosen value. Raises BadInput if there is nothing to choose from."""
        if self.widget.value is None:
            raise BadInput(f"{self.label}: nothing to pick from in this run")
        return self._choices[self.widget.value]

    def chosen_name(self) -> object:
        """The name of the choice in a page without a list."""
        return self.widget.value

    @property
    def shown(self) -> Stack:
        """The output for the choice, or the error."""
        try:
            return Stack(self._show(self.value))
        except LabError as error:
            return Stack([Text(str(error))])

    def _find_choices(self) -> dict[str, Choice]:
        try:
            return dict(self._options())
        except LabError:  # the run cannot be opened: the picker of runs shows the error
            return {}

    def _refresh(self) -> None:
        if self._is_replacing:  # each step of replacing the list changes the value
            return
        self._handle.update(self.shown)
        for follow in self._listeners:
            follow()

    def _follow(self) -> None:
        """Take new options; the same name stays chosen if it still exists."""
        chosen = self.widget.value
        self._choices = self._find_choices()
        self._is_replacing = True
        self.widget.options = list(self._choices)
        self.widget.value = chosen if chosen in self._choices else next(iter(self._choices), None)
        self._is_replacing = False
        self._refresh()
