"""Text in figures that came from a host or a file: drawn as it is, in whatever script it is written."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import matplotlib
from matplotlib import font_manager

from lab.base.untrusted import printable

# matplotlib's own font knows no Chinese, Japanese or Korean; a system that is used in one of them has one of these.
MORE_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Micro Hei", "Microsoft YaHei", "Arial Unicode MS")


def as_is() -> dict[str, Any]:
    """The properties of such a Text of matplotlib: a dollar sign in it is no formula."""
    return {"family": _fonts(), "parse_math": False}


def drawable(text: str) -> str:
    """The text with a box for what no font has, for matplotlib warns of each, and for what acts on the text around."""
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
