"""Layers of settings that stand on one another, kept as long as the next case wants the same ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from lab.settings.changes import Settings

Layer = tuple[Hashable, Callable[[], None]]


class Layers:
    """Rungs from the most expensive change (at the bottom) to the cheapest; each may only rely on those below it."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self._standing: list[tuple[Hashable, int]] = []

    def move(self, rungs: Sequence[Layer]) -> None:
        """Stand on exactly these rungs: step down to where they differ from the present ones, then climb.

        A rung that cannot be climbed is put back at once, and the error goes on.
        """
        common = 0
        for (standing, _), (wanted, _) in zip(self._standing, rungs, strict=False):
            if standing != wanted:
                break
            common += 1
        self.step_down(common)
        for key, climb in rungs[common:]:
            mark = len(self.settings.journal.open)
            self._standing.append((key, mark))
            try:
                climb()
            except BaseException:
                self.step_down(len(self._standing) - 1)
                raise

    def stands_on(self, rungs: Sequence[Layer]) -> bool:
        """Whether these are the lowest of the present rungs."""
        return [key for key, _ in self._standing[: len(rungs)]] == [key for key, _ in rungs]

    def step_down(self, keep: int) -> None:
        """Put back all but the lowest ``keep`` rungs."""
        if keep < len(self._standing):
            mark = self._standing[keep][1]
            del self._standing[keep:]
            self.settings.unwind(mark)
