"""What marks of a figure stand for, in words: an SVG has it beside each mark, for the keyboard and a screen reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from lab.report.figures.fonts import drawable

MOST_VALUES = 400  # of a panel: nobody goes through more of them key by key, and the table has them all
RADIUS = 5.5


class Values(Artist):
    """Invisible circles in a panel, each with its words; drawn in an SVG alone, for pixels have no words."""

    def __init__(self, x: npt.ArrayLike, y: npt.ArrayLike, words: Sequence[str]):
        super().__init__()
        self.places, self.words = np.column_stack([np.asarray(x, float), np.asarray(y, float)]), words
        self.set_zorder(10)  # above the marks: what lies on top is what the pointer meets
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Write the elements; whatever lies beyond the panel is moved to its edge."""
        writer = getattr(renderer, "writer", None)
        if writer is None or not isinstance(self.axes, Axes):
            return
        frame = self.axes.get_window_extent(renderer)
        at = np.clip(self.axes.transData.transform(self.places), frame.min, frame.max)
        for (x, y), words in zip(at, self.words, strict=True):
            writer.start("g", attrib={"class": "mark", "tabindex": "0", "role": "img"})
            writer.element("title", drawable(words))
            place = {"cx": f"{x:.1f}", "cy": f"{renderer.height - y:.1f}", "r": str(RADIUS)}
            writer.element("circle", attrib={**place, "fill": "none", "pointer-events": "all"})
            writer.end("g")


def tell(axes: Axes, x: npt.ArrayLike, y: npt.ArrayLike, words: Sequence[str]) -> None:
    """Give marks of a panel their words, the first MOST_VALUES of those that have a place."""
    places = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
    told = np.flatnonzero(np.isfinite(places).all(axis=1))[:MOST_VALUES]
    if len(told):
        axes.add_artist(Values(places[told, 0], places[told, 1], [words[place] for place in told]))
