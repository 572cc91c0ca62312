"""A list to pick from, above what a plain function shows of the choice.

What is shown is an ordinary output, first of the default choice, and is replaced in place when another one is picked.
So a notebook is complete where no kernel runs, and a saved one has what was picked last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from lab.base.errors import BadInput, LabError
from lab.notebook.output import display_bundle, display_to_replace
from lab.notebook.table import Stack, Text

Choice = TypeVar("Choice")
WIDGET = "application/vnd.jupyter.widget-view+json"
WIDE, NAME_WIDTH = "min(100%, 60em)", "6em"


class Picker(Generic[Choice]):
    """A list of ``options``, and what ``show`` makes of the chosen one: figures, tables and texts.

    ``options`` gives the choices by name. Where they depend on another picker, that is named as ``follows``. Both are
    displayed at once, in the output of the current cell.
    """

    def __init__(
        self,
        label: str,
        options: Callable[[], Mapping[str, Choice]],
        show: Callable[[Choice], Sequence[object]],
        follows: Picker[Any] | None = None,
    ):
        from ipywidgets import Dropdown, Layout  # slow to import, and comes with Jupyter alone

        self.label, self._options, self._show = label, options, show
        self._choices = self._find_choices()
        self._listeners: list[Callable[[], None]] = []
        self._is_replacing = False
        self.widget = Dropdown(
            options=list(self._choices), description=label, layout=Layout(width=WIDE),
            style={"description_width": NAME_WIDTH},
        )  # fmt: skip
        self._display()
        self.widget.observe(lambda _: self._refresh(), names="value")
        if follows:
            follows._listeners.append(self._follow)

    @property
    def value(self) -> Choice:
        """What is chosen. Raises BadInput where there is nothing to choose from."""
        if self.widget.value is None:
            raise BadInput(f"{self.label}: nothing to pick from in this run")
        return self._choices[self.widget.value]

    def chosen_name(self) -> object:
        """What the choice is called where there is no list."""
        return self.widget.value

    @property
    def shown(self) -> Stack:
        """What is shown of it; of what cannot be shown, why."""
        try:
            return Stack(self._show(self.value))
        except LabError as error:
            return Stack([Text(str(error))])

    def _find_choices(self) -> dict[str, Choice]:
        try:
            return dict(self._options())
        except LabError:  # of a run that cannot be opened, which the picker of runs says
            return {}

    def _display(self) -> None:
        bundle = self.widget._repr_mimebundle_()
        static = f"{self.label}: {self.chosen_name()} (Jupyter offers {len(self._choices)} to pick from)"
        display_bundle({WIDGET: bundle[WIDGET], "text/plain": static})
        self._handle = display_to_replace(self.shown)

    def _refresh(self) -> None:
        if self._is_replacing:  # the list itself: each step of that changes the value
            return
        self._handle.update(self.shown)
        for follow in self._listeners:
            follow()

    def _follow(self) -> None:
        """Take the options anew; the same name stays chosen where there is still one."""
        chosen = self.widget.value
        self._choices = self._find_choices()
        self._is_replacing = True
        self.widget.options = list(self._choices)
        self.widget.value = chosen if chosen in self._choices else next(iter(self._choices), None)
        self._is_replacing = False
        self._refresh()
