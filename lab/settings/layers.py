"""Layers of settings, each on top of others, kept while the next case needs the same ones."""

from collections.abc import Callable, Hashable, Sequence

from lab.settings.changes import Settings

Layer = tuple[Hashable, Callable[[], None]]  # its identity, and the function that applies it


class Layers:
    """Layers from the most expensive change (lowest) to the cheapest; a layer may rely only on those below."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self._present: list[tuple[Hashable, int]] = []  # each key, and how many changes were open before it

    def move(self, layers: Sequence[Layer]) -> None:
        """Change to exactly these layers: undo present layers from the first difference on, then apply the rest.

        A layer that fails is undone at once, and its error is raised.
        """
        same = [present == target for (present, _), (target, _) in zip(self._present, layers, strict=False)]
        common = [*same, False].index(False)
        self.step_down(common)
        for key, apply in layers[common:]:
            self._present.append((key, len(self.settings.journal.open)))
            try:
                apply()
            except BaseException:
                self.step_down(len(self._present) - 1)
                raise

    def stands_on(self, layers: Sequence[Layer]) -> bool:
        """Whether these are the lowest present layers."""
        return [key for key, _ in self._present[: len(layers)]] == [key for key, _ in layers]

    def drop_uppermost(self, count: int = 1) -> None:
        """Undo the uppermost ``count`` layers."""
        self.step_down(len(self._present) - count)

    def step_down(self, keep: int) -> None:
        """Undo all but the lowest ``keep`` layers."""
        if keep < len(self._present):
            mark = self._present[keep][1]
            del self._present[keep:]
            self.settings.unwind(mark)
