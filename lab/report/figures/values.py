"""Texts in figures: names in any script, and the words of each mark for a keyboard and a screen reader."""

import functools
import itertools
from collections.abc import Sequence
from typing import TypedDict

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase

from lab.base.untrusted import printable
from lab.stats.intervals import Floats

MOST_VALUES = 400  # in a panel; nobody goes through more key by key, and the table has them all
RADIUS = 5.5
# matplotlib's own font knows no Chinese, Japanese or Korean; a system that is used in one of them has one of these.
MORE_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Micro Hei", "Microsoft YaHei", "Arial Unicode MS")


class AsIs(TypedDict):
    """Properties of a Text of matplotlib."""

    family: list[str]
    parse_math: bool


class Values(Artist):
    """Invisible circles in a panel, each with its words; only in an SVG, because pixels have no words."""

    def __init__(self, places: Floats, words: Sequence[str]):
        super().__init__()
        self.places, self.words = places, words
        self.set_zorder(10)  # above the marks: the pointer meets what lies on top
        self.set_in_layout(False)

    def draw(self, renderer: RendererBase) -> None:
        """Write the elements; a mark beyond the panel is moved to its edge."""
        writer = getattr(renderer, "writer", None)
        if writer is None or not isinstance(self.axes, Axes):
            return
        frame, height = self.axes.get_window_extent(renderer), renderer.get_canvas_width_height()[1]
        at = np.clip(self.axes.transData.transform(self.places), frame.min, frame.max)
        for (x, y), words in zip(at, self.words, strict=True):
            writer.start("g", attrib={"class": "mark", "tabindex": "0", "role": "img"})
            writer.element("title", drawable(words))
            place = {"cx": f"{x:.1f}", "cy": f"{height - y:.1f}", "r": str(RADIUS)}
            writer.element("circle", attrib={**place, "fill": "none", "pointer-events": "all"})
            writer.end("g")


def tell(axes: Axes, x: npt.ArrayLike, y: npt.ArrayLike, words: Sequence[str]) -> None:
    """Give marks of a panel their words: the first MOST_VALUES that have a place."""
    places = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
    placed = np.flatnonzero(np.isfinite(places).all(axis=1))[:MOST_VALUES]
    if len(placed):
        axes.add_artist(Values(places[placed], [words[place] for place in placed]))


def as_is() -> AsIs:
    """The properties of a text in which a dollar sign is no formula."""
    return {"family": _fonts(), "parse_math": False}


def drawable(text: str) -> str:
    """The text with a box for each character that no font has or that acts on the text around it."""
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
