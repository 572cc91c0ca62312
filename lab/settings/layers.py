"""Layers of settings that stand on one another, kept as long as the next case wants the same ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from lab.settings.changes import Settings

Layer = tuple[Hashable, Callable[[], None]]  # what tells it from other layers, and what brings it about


class Layers:
    """Layers from the most expensive change (the lowest) to the cheapest; each may rely on those below it only."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self._present: list[tuple[Hashable, int]] = []  # each key, and how many changes were open before it

    def move(self, layers: Sequence[Layer]) -> None:
        """Have exactly these layers: put back from where they differ from the present ones, then add the rest.

        A layer that cannot be brought about is put back at once, and the error goes on.
        """
        common = 0
        for (present, _), (target, _) in zip(self._present, layers, strict=False):
            if present != target:
                break
            common += 1
        self.step_down(common)
        for key, bring_about in layers[common:]:
            mark = len(self.settings.journal.open)
            self._present.append((key, mark))
            try:
                bring_about()
            except BaseException:
                self.step_down(len(self._present) - 1)
                raise

    def stands_on(self, layers: Sequence[Layer]) -> bool:
        """Whether these are the lowest of the present layers."""
        return [key for key, _ in self._present[: len(layers)]] == [key for key, _ in layers]

    def drop_uppermost(self, count: int = 1) -> None:
        """Put back the uppermost ``count`` of the present layers."""
        self.step_down(len(self._present) - count)

    def step_down(self, keep: int) -> None:
        """Put back all but the lowest ``keep`` layers."""
        if keep < len(self._present):
            mark = self._present[keep][1]
            del self._present[keep:]
            self.settings.unwind(mark)
