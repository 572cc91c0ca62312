"""Texts in figures: what each mark stands for, for a keyboard and a screen reader, and names in any script."""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from lab.base.untrusted import printable

MOST_VALUES = 400  # of a panel: nobody goes through more of them key by key, and the table has them all
RADIUS = 5.5
# matplotlib's own font knows no Chinese, Japanese or Korean; a system that is used in one of them has one of these.
MORE_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Micro Hei", "Microsoft YaHei", "Arial Unicode MS")


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
    placed = np.flatnonzero(np.isfinite(places).all(axis=1))[:MOST_VALUES]
    if len(placed):
        axes.add_artist(Values(places[placed, 0], places[placed, 1], [words[place] for place in placed]))


def as_is() -> dict[str, Any]:
    """The properties of such a Text of matplotlib: a dollar sign in it is no formula."""
    return {"family": _fonts(), "parse_math": False}


def drawable(text: str) -> str:
    """The text with a box for each sign that no font has (matplotlib would warn) or that acts on the text around."""
    shown = ((ord(sign) in _characters() and printable(sign) == sign) or sign == "\n" for sign in text)
    return "".join(sign if is_shown else "□" for sign, is_shown in zip(text, shown, strict=True))


@functools.cache
def _fonts() -> list[str]:
    installed = set(font_manager.get_font_names())
    return [*matplotlib.rcParams["font.family"], *(name for name in MORE_FONTS if name in installed)]


@functools.cache
def _characters() -> frozenset[int]:
    files = [font_manager.findfont(font_manager.FontProperties(family=[name])) for name in _fonts()]
    return frozenset(itertools.chain.from_iterable(font_manager.get_font(file).get_charmap() for file in files))
